// SPDX-License-Identifier: Apache-2.0
// Recurrent layers by cuDNN: weights, workspaces and the choice, on the simulated device with
// fake_cudnn_rnn.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "backend/cuda/cudnn_plans.h"
#include "backend/cuda/device.h"
#include "cuda_cudnn/fake_cudnn_rnn.h"
#include "ops/recurrent/recurrent.h"

namespace linnet::cuda {

void register_recurrent_cudnn(Registry& registry);

namespace {

constexpr std::array kCells{Cell::tanh, Cell::relu, Cell::gru, Cell::lstm};

using Types = std::vector<ValueType>;
using Numbers = std::vector<std::vector<float>>;

/// A layer's operands: x, weights, biases.
Types operands(const RecurrentAttrs& attrs, const Shape& x = {3, 4, 5}, std::int64_t units = 7) {
  const std::int64_t columns = cell_gates(attrs.cell) * units;
  Types types{{DType::f32, x}, {DType::f32, {columns, x[2]}}, {DType::f32, {columns, units}}};
  if (attrs.bias) types.insert(types.end(), 2, {DType::f32, {columns}});
  return types;
}

RecurrentGradOp gradient_op(const RecurrentAttrs& attrs, bool y = true, bool last = true) {
  return RecurrentGradOp({attrs.cell, attrs.bias, attrs.reverse, y, last});
}

/// Its gradient's: the layer's, saved, dy and dlast.
Types gradient_operands(const RecurrentAttrs& attrs, const RecurrentGradOp& op) {
  Types types = operands(attrs);
  const Types results = RecurrentOp(attrs).infer(types);
  types.push_back(results[2]);
  if (op.attrs().y_gradient) types.push_back(results[0]);
  if (op.attrs().last_gradient) types.push_back(results[1]);
  return types;
}

Numbers random_numbers(const Types& types) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  Numbers numbers;
  for (const ValueType& type : types) {
    std::vector<float>& values = numbers.emplace_back();
    for (std::int64_t i = 0; i < type.shape.elements(); ++i) values.push_back(uniform(random));
  }
  return numbers;
}

Numbers reference(const Op& op, const Types& types, const Numbers& inputs) {
  std::vector<ReferenceTensor> tensors;
  for (std::size_t i = 0; i < types.size(); ++i) {
    tensors.push_back({types[i].shape, {inputs[i].begin(), inputs[i].end()}});
  }
  for (const ValueType& type : op.infer(types)) {
    tensors.push_back(
        {type.shape, std::vector<double>(static_cast<std::size_t>(type.shape.elements()))});
  }
  std::vector<ReferenceTensor*> all;
  for (ReferenceTensor& tensor : tensors) all.push_back(&tensor);
  op.reference({std::span(all).first(types.size()), std::span(all).subspan(types.size()), {}});
  Numbers results;
  for (std::size_t i = types.size(); i < tensors.size(); ++i) {
    results.emplace_back(tensors[i].data.begin(), tensors[i].data.end());
  }
  return results;
}

/// A copy on the simulated device.
ScratchMemory on_device(const std::vector<float>& values) {
  const std::size_t bytes = values.size() * sizeof(float);
  ScratchMemory memory = try_allocate(bytes);
  check(cudaMemcpy(memory.get(), values.data(), bytes, cudaMemcpyHostToDevice), "test");
  return memory;
}

/// Returns what the kernel leaves on poisoned memory, its workspace standing where arenas may have
/// one.
Numbers run(const Kernel& kernel, const Op& op, const Types& types, const Numbers& inputs) {
  constexpr std::size_t kStart = 64;
  constexpr std::size_t kGuard = 256;
  Numbers results;
  for (const ValueType& type : op.infer(types)) {
    results.emplace_back(static_cast<std::size_t>(type.shape.elements()), NAN);
  }
  std::vector<ScratchMemory> memory;
  std::vector<void*> addresses;
  for (const Numbers* numbers : {&inputs, static_cast<const Numbers*>(&results)}) {
    for (const std::vector<float>& values : *numbers) {
      memory.push_back(on_device(values));
      addresses.push_back(memory.back().get());
    }
  }
  const std::size_t end = kStart + kernel.workspace_bytes;
  const ScratchMemory workspace = try_allocate(end + kGuard);
  auto* start = static_cast<std::byte*>(workspace.get());
  check(cudaMemset(start, 0xFF, end + kGuard), "test");
  const ScratchMemory tickets = try_allocate(kTickets * sizeof(unsigned));
  check(cudaMemset(tickets.get(), 0, kTickets * sizeof(unsigned)), "test");
  check(cudaDeviceSynchronize(), "test");  // the kernel's stream does not wait for the default one
  const Stream stream = make_stream();
  kernel.enqueue({.inputs = std::span(addresses).first(inputs.size()),
                  .outputs = std::span(addresses).subspan(inputs.size()),
                  .workspace = start + kStart,
                  .stream = stream.get(),
                  .tickets = static_cast<unsigned*>(tickets.get())});
  check(cudaStreamSynchronize(stream.get()), "test");
  std::vector<std::byte> guard(kGuard);
  check(cudaMemcpy(guard.data(), start + end, kGuard, cudaMemcpyDeviceToHost), "test");
  EXPECT_EQ(guard, std::vector(kGuard, std::byte{0xFF})) << "after the workspace";
  for (std::size_t i = 0; i < results.size(); ++i) {
    check(cudaMemcpy(results[i].data(), addresses[inputs.size() + i],
                     results[i].size() * sizeof(float), cudaMemcpyDeviceToHost),
          "test");
  }
  return results;
}

void expect_near(const Numbers& found, const Numbers& expected, std::size_t count,
                 const std::string& what) {
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(found[i].size(), expected[i].size());
    float largest = 1;
    for (const float value : expected[i]) largest = std::max(largest, std::abs(value));
    for (std::size_t k = 0; k < expected[i].size(); ++k) {
      ASSERT_NEAR(found[i][k], expected[i][k], 1e-5F * largest)
          << what << ": result " << i << " at " << k;
    }
  }
}

/// cuDNN on the simulated device; what a test changes of the fake is undone after it.
class RecurrentCudnn : public testing::Test {
 protected:
  RecurrentCudnn() {
    context_.cudnn = &cudnn_;
    context_.tuning = &tuning_;
  }
  ~RecurrentCudnn() override { fake_rnn() = {}; }

  static std::string question(const RecurrentAttrs& attrs, std::string_view use,
                              std::string_view math = "tf32") {
    return fmt::format(
        "cudnn 0.0.0, simulated, recurrent {} x=(3, 4, 5), 7 units{}, {}, {}, or own "
        "kernels",
        enum_names(attrs.cell).at(static_cast<std::size_t>(attrs.cell)),
        attrs.bias ? "" : " without bias", math, use);
  }
  std::optional<Kernel> prepare(const Op& op, const Types& types, bool saved_read = true) const {
    Registry registry;
    register_recurrent_cudnn(registry);
    const Types outputs = op.infer(types);
    return registry.prepare({op, types, outputs, {true, true, saved_read}}, context_);
  }
  /// Returns which of a layer's kernels are cuDNN's: its forward's in inference, in training, its
  /// gradient's.
  std::string taken(const RecurrentAttrs& attrs) const {
    const RecurrentOp op(attrs);
    const RecurrentGradOp grad = gradient_op(attrs);
    std::string text;
    if (prepare(op, operands(attrs), false)) text += "inference ";
    if (prepare(op, operands(attrs))) text += "forward ";
    if (prepare(grad, gradient_operands(attrs, grad))) text += "gradient ";
    return text;
  }
  void answer(const RecurrentAttrs& attrs, const std::string& choice) {
    for (const char* use : {"training", "inference"}) tuning_.put(question(attrs, use), choice);
  }

  CudnnLibrary cudnn_{"simulated"};
  TuningCache tuning_;
  Context context_;
};

TEST_F(RecurrentCudnn, ComputesTheReference) {
  for (const bool in_order : {false, true}) {
    fake_rnn().in_order = in_order;
    const CudnnLibrary cudnn("simulated");
    context_.cudnn = &cudnn;
    for (const Cell cell : kCells) {
      for (const bool bias : {true, false}) {
        const RecurrentAttrs attrs{.cell = cell, .bias = bias};
        answer(attrs, "standard");
        const RecurrentOp op(attrs);
        const Numbers inputs = random_numbers(operands(attrs));
        const Numbers expected = reference(op, operands(attrs), inputs);
        for (const bool training : {false, true}) {
          const auto kernel = prepare(op, operands(attrs), training);
          ASSERT_TRUE(kernel.has_value());
          EXPECT_EQ(kernel->engine, "cudnn RNN standard, 0.0 MiB");
          expect_near(run(*kernel, op, operands(attrs), inputs), expected, 2, question(attrs, ""));
        }
      }
    }
  }
}

/// `saved` is poisoned: cuDNN's gradient computes the states again.
TEST_F(RecurrentCudnn, ComputesTheReferencesGradients) {
  for (const Cell cell : kCells) {
    for (const bool bias : {true, false}) {
      for (const auto& [y, last] : {std::pair{true, true}, {true, false}, {false, true}}) {
        const RecurrentAttrs attrs{.cell = cell, .bias = bias};
        answer(attrs, "standard");
        const RecurrentGradOp op = gradient_op(attrs, y, last);
        const Types types = gradient_operands(attrs, op);
        const auto kernel = prepare(op, types);
        ASSERT_TRUE(kernel.has_value());
        Numbers inputs = random_numbers(types);
        std::vector<float>& saved = inputs[op.saved_input()];
        saved = reference(RecurrentOp(attrs), operands(attrs), inputs)[2];
        const Numbers expected = reference(op, types, inputs);
        saved.assign(saved.size(), NAN);
        expect_near(run(*kernel, op, types, inputs), expected, expected.size(),
                    question(attrs, fmt::format("dy {}, dlast {}", y, last)));
      }
    }
  }
}

TEST_F(RecurrentCudnn, IsTakenWhereItWasFaster) {
  answer({}, "standard");
  EXPECT_EQ(taken({}), "inference forward gradient ");
  tuning_.put(question({.cell = Cell::lstm}, "inference"), "own");
  tuning_.put(question({.cell = Cell::lstm}, "training"), "standard");
  EXPECT_EQ(taken({.cell = Cell::lstm}), "forward gradient ");
}

/// Half of a layer by cuDNN would read what nobody wrote.
TEST_F(RecurrentCudnn, ALayersTwoOperatorsAreChosenTogether) {
  answer({}, "standard");
  EXPECT_TRUE(prepare(RecurrentOp(), operands({})).has_value());
  tuning_.put(question({}, "training"), "own");
  EXPECT_EQ(taken({}), "inference forward gradient ");
}

TEST_F(RecurrentCudnn, OwnKernelsStayForWhatItDoesNotCompute) {
  RecurrentAttrs original{.cell = Cell::gru_original};
  RecurrentAttrs reverse{.reverse = true};
  answer(original, "standard");
  answer(reverse, "standard");
  EXPECT_EQ(taken(original), "");
  EXPECT_EQ(taken(reverse), "");
  EXPECT_FALSE(prepare(RecurrentOp(), operands({}, {0, 4, 5})).has_value());
}

TEST_F(RecurrentCudnn, OwnKernelsStayWhereNobodyWantsCudnn) {
  answer({}, "standard");
  context_.options.cudnn = false;
  EXPECT_EQ(taken({}), "");
  context_.options.cudnn = true;
  context_.tuning = nullptr;
  EXPECT_EQ(taken({}), "");
  context_.tuning = &tuning_;
  context_.cudnn = nullptr;
  EXPECT_EQ(taken({}), "");
}

/// No answer is kept: a later cuDNN, or one that is installed rightly, is asked again.
TEST_F(RecurrentCudnn, OwnKernelsStayWhereItFailsNow) {
  answer({}, "standard");
  fake_rnn().fails = true;
  EXPECT_EQ(taken({}), "");
  EXPECT_EQ(tuning_.get(question({}, "training")), "standard");
}

TEST_F(RecurrentCudnn, OwnKernelsStayWhereWeightsLieOtherwise) {
  fake_rnn().transposed = true;
  answer({}, "standard");
  EXPECT_EQ(taken({}), "");
}

TEST_F(RecurrentCudnn, AnUnknownAnswerKeepsOwnKernels) {
  answer({}, "a later algorithm");
  EXPECT_EQ(taken({}), "");
}

/// The fake computes in one loop what own kernels are simulated for thread by thread.
TEST_F(RecurrentCudnn, ATrialTakesWhatIsFaster) {
  fake_rnn().algorithms = {CUDNN_RNN_ALGO_PERSIST_STATIC};
  EXPECT_EQ(taken({}), "inference forward gradient ");
  EXPECT_EQ(tuning_.get(question({}, "training")), "persistent");
  EXPECT_EQ(tuning_.get(question({}, "inference")), "persistent");
}

TEST_F(RecurrentCudnn, ATrialKeepsOwnKernels) {
  const auto kept = [&](const FakeRnn& fake) {
    fake_rnn() = fake;
    const CudnnLibrary cudnn("simulated");
    context_.cudnn = &cudnn;
    TuningCache tuning;
    context_.tuning = &tuning;
    const std::string all = taken({});
    EXPECT_EQ(tuning.get(question({}, "training")), "own");
    EXPECT_EQ(tuning.get(question({}, "inference")), "own");
    return all;
  };
  EXPECT_EQ(kept({.algorithms = {}}), "");
  EXPECT_EQ(kept({.fails = true}), "");
  EXPECT_EQ(kept({.error = 0.01F}), "");
  EXPECT_EQ(kept({.drifts = true}), "");
  EXPECT_EQ(kept({.seconds = 1}), "");
}

TEST_F(RecurrentCudnn, ALayerIsMeasuredOnce) {
  taken({});
  const int launches = fake_rnn().launches;
  EXPECT_GT(launches, 0);
  taken({});
  EXPECT_EQ(fake_rnn().launches, launches);
}

TEST_F(RecurrentCudnn, ThePrecisionDecidesItsMath) {
  answer({}, "standard");
  taken({});
  EXPECT_EQ(fake_rnn().math, CUDNN_DEFAULT_MATH);
  context_.precision = Precision::fp32;
  tuning_.put(question({}, "training", "fp32"), "standard");
  EXPECT_TRUE(prepare(RecurrentOp(), operands({})).has_value());
  EXPECT_EQ(fake_rnn().math, CUDNN_FMA_MATH);
}

TEST(CudnnRecurrent, EveryDifferenceShowsInItsDescription) {
  const CudnnRecurrent layer{.n = 2, .steps = 3, .features = 4, .units = 5};
  std::vector<CudnnRecurrent> others(7, layer);
  others[0].cell = CudnnRecurrent::Cell::lstm;
  others[1].bias = false;
  others[2].n = 9;
  others[3].steps = 9;
  others[4].features = 9;
  others[5].units = 9;
  others[6].math = CudnnMath::fp32;
  for (const CudnnRecurrent& other : others) EXPECT_NE(other.describe(), layer.describe());
}

}  // namespace
}  // namespace linnet::cuda
