// SPDX-License-Identifier: Apache-2.0
// What decides whether a library's kernel replaces one of Linnet's, on the simulated device with
// batch norms, which have several outputs.
#include <gtest/gtest.h>

#include "backend/cuda/cudnn_plans.h"
#include "backend/cuda/kernel_trial.h"
#include "ops/batch_norm/batch_norm.h"

namespace linnet::cuda {

void register_batch_norm(Registry& registry);

namespace {

const Shape kX{129, 2, 4, 8};  // more rows than own kernels take in one launch
const Shape kC{8};

struct Case {
  std::shared_ptr<const Op> op;
  std::vector<Shape> inputs;
};

Case forward(bool residual, Activation activation) {
  Case made{std::make_shared<BatchNormOp>(BatchNormAttrs{
                .epsilon = 0.01, .momentum = 0.25, .residual = residual, .activation = activation}),
            {kX, kC, kC, kC, kC}};
  if (residual) made.inputs.push_back(kX);
  return made;
}

Case gradient(bool residual, Activation activation, const Shape& x = kX) {
  Case made{std::make_shared<BatchNormGradOp>(
                BatchNormGradAttrs{.residual = residual, .activation = activation}),
            {x, x, kC, kC, kC}};
  if (activation == Activation::relu) made.inputs.push_back(x);
  return made;
}

std::vector<Case> cases() {
  constexpr Activation kNone = Activation::none;
  constexpr Activation kRelu = Activation::relu;
  return {forward(false, kNone),  forward(false, kRelu),  forward(true, kRelu),
          gradient(false, kNone), gradient(false, kRelu), gradient(true, kRelu)};
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

TEST(KernelIfFaster, TheAnswerIsKept) {
  const CudnnLibrary cudnn("simulated");
  TuningCache tuning;
  const Case c = gradient(false, Activation::none, Shape{4, 2, 4, 8});
  CudnnConvolution problem;
  problem.n = problem.h = problem.w = problem.c = problem.oh = problem.ow = problem.co = 1;
  problem.kh = problem.kw = 1;
  const auto chosen = [&](const Kernel& by_cudnn) {
    const Cudnn::Wrap wrap = [&](const auto& /*plan*/) { return by_cudnn; };
    return cudnn.kernel_if_faster(problem, Node(c).view(), own_kernel(c), wrap, &tuning);
  };
  const std::string question = "cudnn 0.0.0, simulated, " + problem.describe() + ", or own kernels";
  const Kernel wrong = with(own_kernel(c), [](const Args& args) {
    launch(args.stream, "add_one", {}, add_one, args.out(0));
  });
  const Kernel failing = with(own_kernel(c), [](const Args&) { throw Error("no"); });
  EXPECT_FALSE(chosen(failing).has_value());
  EXPECT_EQ(tuning.get(question), std::nullopt) << "what failed may not fail again";
  EXPECT_FALSE(chosen(wrong).has_value());
  EXPECT_EQ(tuning.get(question), "own");
  EXPECT_FALSE(chosen(own_kernel(c)).has_value());
  tuning.put(question, "cudnn");
  EXPECT_TRUE(chosen(own_kernel(c)).has_value());
}

TEST(SameResults, ComparesAllThatIsWritten) {
  const Stream stream = make_stream();
  for (const Case& c : cases()) {
    const Node node(c);
    const Kernel own = own_kernel(c);
    EXPECT_TRUE(same_results(own, own, node.view(), stream.get())) << c.op->name();
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const Kernel wrong = with(own, [i](const Args& args) {
        launch(args.stream, "add_one", {}, add_one, args.out(i));
      });
      EXPECT_FALSE(same_results(wrong, own, node.view(), stream.get())) << c.op->name() << ' ' << i;
    }
  }
}

/// One kernel a hundred times is slower than once, on any machine, however busy.
TEST(IsFaster, TellsOnceFromAHundredTimes) {
  const Stream stream = make_stream();
  const Case c = gradient(true, Activation::relu, Shape{4, 2, 4, 8});
  const Kernel own = own_kernel(c);
  const Kernel hundredfold = with(own, [own](const Args& args) {
    for (int i = 0; i < 99; ++i) own.enqueue(args);
  });
  EXPECT_TRUE(is_faster(own, hundredfold, Node(c).view(), stream.get()));
  EXPECT_FALSE(is_faster(hundredfold, own, Node(c).view(), stream.get()));
  EXPECT_EQ(may_replace(own, hundredfold, Node(c).view(), stream.get()), true);
}

TEST(MayReplace, WhatFailsMayNot) {
  const Stream stream = make_stream();
  const Case c = gradient(false, Activation::none);
  const Kernel failing = with(own_kernel(c), [](const Args&) { throw Error("no"); });
  EXPECT_EQ(may_replace(failing, own_kernel(c), Node(c).view(), stream.get()), std::nullopt);
}

}  // namespace
}  // namespace linnet::cuda
