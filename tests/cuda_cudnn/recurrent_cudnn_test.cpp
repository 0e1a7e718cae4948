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

void register_recurrent_trial_cudnn(Registry& registry);

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

/// Arrays on the simulated device.
class Arrays {
 public:
  explicit Arrays(const Numbers& numbers) {
    for (const std::vector<float>& values : numbers) {
      add(values.size() * sizeof(float));
      check(cudaMemcpy(addresses_.back(), values.data(), memory_.back().second,
                       cudaMemcpyHostToDevice),
            "test");
    }
  }
  /// Poisoned ones, as large as the kernel wants its results.
  Arrays(const Kernel& kernel, const Types& types) {
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::size_t room = kernel.result_bytes.empty() ? 0 : kernel.result_bytes.at(i);
      add(std::max(types[i].bytes(), room));
    }
  }
  std::span<void* const> addresses() const { return addresses_; }
  void* operator[](std::size_t i) const { return addresses_[i]; }
  std::vector<float> read(std::size_t i, const ValueType& type) const {
    std::vector<float> values(static_cast<std::size_t>(type.shape.elements()));
    check(cudaMemcpy(values.data(), addresses_[i], type.bytes(), cudaMemcpyDeviceToHost), "test");
    return values;
  }
  Numbers read(const Types& types) const {
    Numbers numbers;
    for (std::size_t i = 0; i < types.size(); ++i) numbers.push_back(read(i, types[i]));
    return numbers;
  }
  /// Throws nothing: says whether what lies after an array was written.
  void expect_guards() const {
    for (const auto& [memory, bytes] : memory_) {
      std::vector<std::byte> guard(kGuard);
      check(cudaMemcpy(guard.data(), static_cast<std::byte*>(memory.get()) + kStart + bytes, kGuard,
                       cudaMemcpyDeviceToHost),
            "test");
      EXPECT_EQ(guard, std::vector(kGuard, std::byte{0xFF})) << "after an array";
    }
  }

 private:
  static constexpr std::size_t kStart = 64;  // where arenas may have one
  static constexpr std::size_t kGuard = 256;

  void add(std::size_t bytes) {
    memory_.emplace_back(try_allocate(kStart + bytes + kGuard), bytes);
    auto* start = static_cast<std::byte*>(memory_.back().first.get());
    check(cudaMemset(start, 0xFF, kStart + bytes + kGuard), "test");
    addresses_.push_back(start + kStart);
  }

  std::vector<std::pair<ScratchMemory, std::size_t>> memory_;
  std::vector<void*> addresses_;
};

/// Runs the kernel, its workspace poisoned.
void run(const Kernel& kernel, std::span<void* const> inputs, const Arrays& results) {
  const Arrays workspace(Kernel{},
                         {{DType::u8, {static_cast<std::int64_t>(kernel.workspace_bytes)}}});
  const ScratchMemory tickets = try_allocate(kTickets * sizeof(unsigned));
  check(cudaMemset(tickets.get(), 0, kTickets * sizeof(unsigned)), "test");
  check(cudaDeviceSynchronize(), "test");  // the kernel's stream does not wait for the default one
  const Stream stream = make_stream();
  kernel.enqueue({.inputs = inputs,
                  .outputs = results.addresses(),
                  .workspace = static_cast<std::byte*>(workspace[0]),
                  .stream = stream.get(),
                  .tickets = static_cast<unsigned*>(tickets.get())});
  check(cudaStreamSynchronize(stream.get()), "test");
  workspace.expect_guards();
  results.expect_guards();
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
  struct Use {
    bool y_read = true;
    bool saved_read = true;
    bool alone = true;  ///< nothing else reads the operands
  };
  std::optional<Kernel> prepare(const Op& op, const Types& types, Use use) const {
    Registry registry;
    register_recurrent_trial_cudnn(registry);
    const Types outputs = op.infer(types);
    const std::vector<bool> alone(types.size(), use.alone);
    return registry.prepare({op, types, outputs, {use.y_read, true, use.saved_read}, {}, alone},
                            context_);
  }
  std::optional<Kernel> prepare(const Op& op, const Types& types) const {
    return prepare(op, types, {});
  }
  /// Returns which of a layer's kernels are cuDNN's: its forward's in inference, in training, its
  /// gradient's.
  std::string taken(const RecurrentAttrs& attrs) const {
    const RecurrentOp op(attrs);
    const RecurrentGradOp grad = gradient_op(attrs);
    std::string text;
    if (prepare(op, operands(attrs), {.saved_read = false})) text += "inference ";
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
          const auto kernel = prepare(op, operands(attrs), {.saved_read = training});
          ASSERT_TRUE(kernel.has_value());
          EXPECT_EQ(kernel->engine, "cudnn RNN standard, 0.0 MiB");
          const Types types = op.infer(operands(attrs));
          const Arrays given(inputs);
          const Arrays results(*kernel, types);
          run(*kernel, given.addresses(), results);
          expect_near(results.read(types), expected, 2, question(attrs, ""));
        }
      }
    }
  }
}

/// The forward pass runs once; one gradient that is not alone leaves what it reads to the next.
TEST_F(RecurrentCudnn, ComputesTheReferencesGradients) {
  for (const Cell cell : kCells) {
    for (const bool bias : {true, false}) {
      for (const auto& [y, last] : {std::pair{true, true}, {true, false}, {false, true}}) {
        for (const bool alone : {true, false}) {
          const RecurrentAttrs attrs{.cell = cell, .bias = bias};
          const std::string what = question(attrs, fmt::format("dy {}, dlast {}", y, last));
          answer(attrs, "standard");
          const RecurrentOp forward_op(attrs);
          const RecurrentGradOp op = gradient_op(attrs, y, last);
          const Types types = gradient_operands(attrs, op);
          const Types results = op.infer(types);
          const auto forward = prepare(forward_op, operands(attrs), {.y_read = y});
          const auto gradient = prepare(op, types, {.alone = alone});
          ASSERT_TRUE(forward.has_value() && gradient.has_value());
          Numbers inputs = random_numbers(types);
          inputs[op.saved_input()] = reference(forward_op, operands(attrs), inputs)[2];
          const Numbers expected = reference(op, types, inputs);
          const Arrays given(inputs);
          const Arrays states(*forward, forward_op.infer(operands(attrs)));
          const int launches = fake_rnn().launches;
          run(*forward, given.addresses().first(operands(attrs).size()), states);
          std::vector<void*> read(given.addresses().begin(), given.addresses().end());
          read[op.saved_input()] = states[RecurrentOp::Out::saved];
          for (int times = 0; times < (alone ? 1 : 2); ++times) {
            const Arrays found(*gradient, results);
            run(*gradient, read, found);
            expect_near(found.read(results), expected, expected.size(), what);
          }
          EXPECT_EQ(fake_rnn().launches - launches, alone ? 3 : 5) << what;
        }
      }
    }
  }
}

/// A trial of a layer in training, forward and gradient as one, has room for it in its workspace.
TEST_F(RecurrentCudnn, WhatIsKeptIsMoreThanWhatOwnKernelsSave) {
  answer({}, "standard");
  const Types types = operands({});
  const std::vector<std::size_t> bytes = prepare(RecurrentOp(), types)->result_bytes;
  ASSERT_EQ(bytes.size(), 3U);
  EXPECT_EQ(bytes[RecurrentOp::Out::y], 0U);
  EXPECT_GT(bytes[RecurrentOp::Out::saved], RecurrentOp().infer(types)[2].bytes());
  EXPECT_TRUE(prepare(RecurrentOp(), types, {.saved_read = false})->result_bytes.empty());
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

/// Of a large batch cuDNN keeps more than a workspace may have.
TEST_F(RecurrentCudnn, WhatIsKeptIsNoWorkspace) {
  fake_rnn().algorithms = {CUDNN_RNN_ALGO_PERSIST_STATIC};
  fake_rnn().more_reserve = kCudnnWorkspaceLimit;
  EXPECT_EQ(taken({}), "inference forward gradient ");
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
