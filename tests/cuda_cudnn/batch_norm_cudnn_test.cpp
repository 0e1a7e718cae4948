// SPDX-License-Identifier: Apache-2.0
// Batch norms by cuDNN: operands and choice, on the simulated device with fake_cudnn_graph.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "backend/cuda/cudnn_plans.h"
#include "backend/cuda/kernel_trial.h"
#include "ops/batch_norm/batch_norm.h"

namespace linnet::cuda {

void register_batch_norm(Registry& registry);
void register_batch_norm_cudnn(Registry& registry);

namespace {

const Shape kX{129, 2, 4, 8};        // more rows than own kernels take in one launch
const Shape kLarge{8, 512, 512, 4};  // 32 MiB
const Shape kC{8};

struct Case {
  std::shared_ptr<const Op> op;
  std::vector<Shape> inputs;
  std::string problem;  ///< as a cache names it
};

Case forward(bool residual, Activation activation, const Shape& x = kX) {
  const Shape c{x[-1]};
  Case made{std::make_shared<BatchNormOp>(BatchNormAttrs{
                .epsilon = 0.01, .momentum = 0.25, .residual = residual, .activation = activation}),
            {x, c, c, c, c},
            fmt::format("batch_norm x={}", to_string(x))};
  if (residual) made.inputs.push_back(x);
  if (residual) made.problem += " + residual";
  if (activation == Activation::relu) made.problem += " + relu";
  made.problem += ", epsilon 0.01, momentum 0.25";
  return made;
}

Case gradient(bool residual, Activation activation, const Shape& x = kX) {
  const Shape c{x[-1]};
  Case made{std::make_shared<BatchNormGradOp>(
                BatchNormGradAttrs{.residual = residual, .activation = activation}),
            {x, x, c, c, c},
            fmt::format("batch_norm_grad x={}", to_string(x))};
  if (activation == Activation::relu) made.inputs.push_back(x);
  if (residual) made.problem += " + residual";
  if (activation == Activation::relu) made.problem += " + relu";
  return made;
}

std::vector<Case> cases(const Shape& x = kX) {
  constexpr Activation kNone = Activation::none;
  constexpr Activation kRelu = Activation::relu;
  return {forward(false, kNone, x),  forward(false, kRelu, x),  forward(true, kRelu, x),
          gradient(false, kNone, x), gradient(false, kRelu, x), gradient(true, kRelu, x)};
}

/// A node of its own types.
struct Node {
  explicit Node(const Case& c) : op(c.op) {
    for (const Shape& shape : c.inputs) inputs.push_back({DType::f32, shape});
    outputs = op->infer(inputs);
  }
  NodeView view() const { return {*op, inputs, outputs, {}}; }
  std::shared_ptr<const Op> op;
  std::vector<ValueType> inputs;
  std::vector<ValueType> outputs;
};

/// cuDNN on the simulated device, and what was measured before.
struct Machine {
  Machine() {
    context.cudnn = &cudnn;
    context.tuning = &tuning;
  }
  static std::string question(const Case& c) {
    return "cudnn 0.0.0, simulated, " + c.problem + ", or own kernels";
  }
  std::optional<Kernel> prepare(const Case& c) const {
    Registry registry;
    register_batch_norm_cudnn(registry);
    return registry.prepare(Node(c).view(), context);
  }
  CudnnLibrary cudnn{"simulated"};
  TuningCache tuning;
  Context context;
};

Kernel own_kernel(const Case& c) {
  Registry registry;
  register_batch_norm(registry);
  return registry.prepare(Node(c).view(), {}).value();
}

/// A kernel that does what `kernel` does, and `more`.
Kernel with(const Kernel& kernel, std::function<void(const Args&)> more) {
  Kernel changed = kernel;
  changed.enqueue = [=](const Args& args) {
    kernel.enqueue(args);
    more(args);
  };
  return changed;
}

__global__ void add_one(float* at) { *at += 1; }

/// The largest difference of any operand, running statistics included, from the reference's.
double error_of(const Case& c, const Kernel& kernel) {
  const Node node(c);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-0.5F, 1.5F);
  std::vector<ReferenceTensor> expected;
  std::vector<std::vector<float>> memory;
  for (const auto& types : {node.inputs, node.outputs}) {
    for (const ValueType& type : types) {
      std::vector<float>& values = memory.emplace_back();
      for (std::int64_t i = 0; i < type.shape.elements(); ++i) values.push_back(uniform(random));
      expected.push_back({type.shape, {values.begin(), values.end()}});
    }
  }
  std::vector<void*> addresses;
  std::vector<ReferenceTensor*> references;
  for (std::vector<float>& values : memory) addresses.push_back(values.data());
  for (ReferenceTensor& tensor : expected) references.push_back(&tensor);
  // As arenas begin: what lies after the statistics would then begin at once.
  struct alignas(256) Line {
    std::array<std::byte, 256> bytes;
  };
  std::vector<Line> workspace(kernel.workspace_bytes / sizeof(Line) + 1);
  const std::size_t inputs = node.inputs.size();
  const Stream stream = make_stream();
  std::vector<unsigned> tickets(kTickets);
  sim::device().host_pointers = true;
  kernel.enqueue({.inputs = std::span(addresses).first(inputs),
                  .outputs = std::span(addresses).subspan(inputs),
                  .workspace = workspace[0].bytes.data(),
                  .stream = stream.get(),
                  .tickets = tickets.data()});
  check(cudaStreamSynchronize(stream.get()), "test");
  const std::span all(references);
  c.op->reference({all.first(inputs), all.subspan(inputs), StepInfo{}});
  double error = 0;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    for (std::size_t k = 0; k < memory[i].size(); ++k) {
      const double difference = std::abs(expected[i].data[k] - memory[i][k]);
      if (std::isnan(difference)) return INFINITY;
      error = std::max(error, difference);
    }
  }
  return error;
}

TEST(BatchNormCudnn, ComputesTheReference) {
  const CudnnLibrary preferred("simulated", true);
  for (const Case& c : cases()) {
    Machine machine;
    machine.context.cudnn = &preferred;
    const std::optional<Kernel> kernel = machine.prepare(c);
    ASSERT_TRUE(kernel.has_value()) << c.problem;
    EXPECT_TRUE(kernel->engine.starts_with("cudnn Fake_eng")) << kernel->engine;
    EXPECT_LT(error_of(c, *kernel), 2e-4) << c.problem;
  }
}

TEST(BatchNormCudnn, IsTakenWhereItWasFaster) {
  for (const Case& c : cases(kLarge)) {
    Machine machine;
    machine.tuning.put("cudnn 0.0.0, simulated, " + c.problem, "Fake_eng2_k1=0");
    machine.tuning.put(Machine::question(c), "cudnn");
    EXPECT_TRUE(machine.prepare(c).has_value()) << c.problem;
    machine.context.options.cudnn = false;
    EXPECT_FALSE(machine.prepare(c).has_value()) << c.problem;
  }
}

TEST(CudnnBatchNorm, EveryDifferenceShowsInItsDescription) {
  const CudnnBatchNorm norm{.n = 2, .h = 3, .w = 4, .c = 8};
  std::vector<CudnnBatchNorm> others(9, norm);
  others[0].direction = CudnnBatchNorm::Direction::gradient;
  others[1].n = 9;
  others[2].h = 9;
  others[3].w = 9;
  others[4].c = 9;
  others[5].residual = true;
  others[6].relu = true;
  others[7].epsilon = 1e-3;
  others[8].momentum = 0.5;
  for (const CudnnBatchNorm& other : others) EXPECT_NE(other.describe(), norm.describe());
}

TEST(BatchNormCudnn, OwnKernelsStayWhereTheyAreFaster) {
  for (const Case& c : cases(kLarge)) {
    Machine machine;
    machine.tuning.put(Machine::question(c), "own");
    EXPECT_FALSE(machine.prepare(c).has_value()) << c.problem;
  }
}

TEST(BatchNormCudnn, OwnKernelsStayWhereNothingIsMeasured) {
  Machine machine;
  machine.context.tuning = nullptr;
  for (const Case& c : cases(kLarge)) {
    EXPECT_FALSE(machine.prepare(c).has_value()) << c.problem;
  }
}

TEST(BatchNormCudnn, TheAnswerIsKept) {
  Machine machine;
  const Case c = gradient(false, Activation::none, Shape{4, 2, 4, 8});
  const CudnnBatchNorm norm{
      .direction = CudnnBatchNorm::Direction::gradient, .n = 4, .h = 2, .w = 4, .c = 8};
  const auto chosen = [&](const Kernel& by_cudnn) {
    const Cudnn::Wrap wrap = [&](const auto& /*plan*/) { return by_cudnn; };
    return machine.cudnn.kernel_if_faster(norm, Node(c).view(), own_kernel(c), wrap,
                                          &machine.tuning);
  };
  const Kernel wrong = with(own_kernel(c), [](const Args& args) {
    launch(args.stream, "add_one", {}, add_one, args.out(0));
  });
  EXPECT_FALSE(chosen(wrong).has_value());
  EXPECT_EQ(machine.tuning.get(Machine::question(c)), "own");
  EXPECT_FALSE(chosen(own_kernel(c)).has_value());
}

TEST(BatchNormCudnn, IsNotAskedForWhatItHasNoEngineFor) {
  const auto asked = [](Case c, int compute_capability, std::int64_t n, std::int64_t channels) {
    for (Shape& shape : c.inputs) {
      shape = shape.rank() == 1 ? Shape{channels} : Shape{n, 2, 4, channels};
    }
    Machine machine;
    machine.context.compute_capability = compute_capability;
    machine.context.cudnn = nullptr;
    Machine preferring;
    const CudnnLibrary cudnn("simulated", true);
    preferring.context.cudnn = &cudnn;
    preferring.context.compute_capability = compute_capability;
    EXPECT_FALSE(machine.prepare(c).has_value());
    return preferring.prepare(c).has_value();
  };
  const Case relu = forward(true, Activation::relu);
  EXPECT_TRUE(asked(relu, 80, 129, 8));
  EXPECT_TRUE(asked(relu, 90, 1, 4));
  EXPECT_FALSE(asked(relu, 75, 129, 8));
  EXPECT_FALSE(asked(relu, 80, 129, 6));
  EXPECT_FALSE(asked(relu, 80, 0, 8));
  EXPECT_FALSE(asked(forward(true, Activation::none), 80, 129, 8));
}

TEST(BatchNormCudnn, SmallOnesAreLeftToOwnKernels) {
  for (const Case& c : cases(Shape{8, 512, 511, 4})) {
    Machine machine;
    machine.tuning.put(Machine::question(c), "cudnn");
    EXPECT_FALSE(machine.prepare(c).has_value()) << c.problem;
  }
}

TEST(SameResults, ComparesAllThatIsWritten) {
  const Stream stream = make_stream();
  for (const Case& c : cases()) {
    const Node node(c);
    const Kernel own = own_kernel(c);
    EXPECT_TRUE(same_results(own, own, node.view(), stream.get())) << c.problem;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const Kernel wrong = with(own, [i](const Args& args) {
        launch(args.stream, "add_one", {}, add_one, args.out(i));
      });
      EXPECT_FALSE(same_results(wrong, own, node.view(), stream.get())) << c.problem << ' ' << i;
    }
  }
}

TEST(SameResults, ComparesWhatIsMutated) {
  const Stream stream = make_stream();
  const Case c = forward(false, Activation::none);
  const Kernel wrong = with(own_kernel(c), [](const Args& args) {
    launch(args.stream, "add_one", {}, add_one, args.in_out(4));
  });
  EXPECT_FALSE(same_results(wrong, own_kernel(c), Node(c).view(), stream.get()));
}

TEST(SameResults, ComparesInPlaceToo) {
  const Stream stream = make_stream();
  const Case c = gradient(true, Activation::relu);
  for (const std::size_t upon : {0U, 1U, 5U}) {
    const Kernel wrong = with(own_kernel(c), [upon](const Args& args) {
      if (args.inputs[upon] != args.outputs[0]) return;
      launch(args.stream, "add_one", {}, add_one, args.out(0));
    });
    EXPECT_FALSE(same_results(wrong, own_kernel(c), Node(c).view(), stream.get())) << upon;
  }
}

/// One kernel eight times is slower than once, on any machine.
TEST(IsFaster, TellsOnceFromEightTimes) {
  const Stream stream = make_stream();
  Case c = gradient(true, Activation::relu);
  for (Shape& shape : c.inputs) shape = shape.rank() == 1 ? kC : Shape{4, 2, 4, 8};
  const Kernel own = own_kernel(c);
  const Kernel eightfold = with(own, [own](const Args& args) {
    for (int i = 0; i < 7; ++i) own.enqueue(args);
  });
  EXPECT_TRUE(is_faster(own, eightfold, Node(c).view(), stream.get()));
  EXPECT_FALSE(is_faster(eightfold, own, Node(c).view(), stream.get()));
  EXPECT_TRUE(may_replace(own, eightfold, Node(c).view(), stream.get()));
}

TEST(MayReplace, WhatFailsMayNot) {
  const Stream stream = make_stream();
  const Case c = gradient(false, Activation::none);
  const Kernel failing = with(own_kernel(c), [](const Args&) { throw Error("no"); });
  EXPECT_FALSE(may_replace(failing, own_kernel(c), Node(c).view(), stream.get()));
}

}  // namespace
}  // namespace linnet::cuda
