// SPDX-License-Identifier: Apache-2.0
// Linnet's own convolutions: strict fp32, every shape. cuDNN's engine is asked before them.
#include "backend/cuda/half_operands.h"
#include "backend/cuda/kernel.h"
#include "backend/cuda/matmul.cuh"
#include "backend/cuda/partial_sums.cuh"
#include "ops/conv2d/direct_cuda.cuh"
#include "ops/conv2d/engines_cuda.h"
#include "ops/conv2d/own_plan_cuda.h"
#include "ops/conv2d/problems_cuda.cuh"

namespace linnet::cuda {
namespace {

using Kind = OwnConvPlan::Kind;

/// A type of this file: the simulated device does not link one kernel of two files.
struct ConvTail : BiasAndActivation {};

/// Returns what follows a sum; nothing in a gradient.
ConvTail tail_of(const Args& args, const Conv2dAttrs& attrs) {
  return {{attrs.bias ? args.in(Conv2dOp::In::b) : nullptr, attrs.activation}};
}

template <class F>
Kernel launching(const OwnConvPlan& plan, F enqueue) {
  return {.enqueue = std::move(enqueue),
          .workspace_bytes = plan.workspace_bytes,
          .engine = plan.engine};
}

// ---- images: results and their gradients

template <bool kDepthwise, bool kBackward>
Kernel by_direct(const OwnConvPlan& plan, const Conv2dAttrs& attrs) {
  return launching(plan, [=, g = ConvGeometry(plan.shape)](const Args& args) {
    const bool vectors = plan.fours && vector_aligned(args.in(kFirst), args.out(kFirst));
    const OwnConvPlan::Direct cut = plan.direct(g.target<kBackward>().total, vectors);
    launch(args.stream, kBackward ? "conv2d_grad_input depthwise" : "conv2d direct", cut.shape,
           vectors ? conv_direct<4, kDepthwise, kBackward> : conv_direct<1, kDepthwise, kBackward>,
           g, args.in(kFirst), args.in(kSecond), args.out(kFirst), tail_of(args, attrs), cut.tile);
  });
}

template <class T, class Problem>
void launch_tiles(const Queue& stream, const char* name, const MatrixProduct& p, unsigned depth,
                  const Problem& problem) {
  const LaunchShape shape{.grid = dim3(ceil_div(p.m, T::kRows), ceil_div(p.n, T::kColumns), depth),
                          .block = kProductThreads};
  launch(stream, name, shape, conv_product<Problem, T>, problem);
}

/// Enqueues products, a group and part each; problem_of<kVector>() says of what.
template <class ProblemOf>
void enqueue_tiles(const char* name, const OwnConvPlan& plan, const Args& args,
                   ProblemOf problem_of) {
  const auto depth = static_cast<unsigned>(plan.shape.attrs.groups * plan.parts);
  const auto run = [&](const auto& problem) {
    const auto of = [&]<class T>() {
      launch_tiles<T>(args.stream, name, plan.product, depth, problem);
    };
    if (plan.tile_columns == 16) return of.template operator()<Tile<256, 16, 4>>();
    if (plan.tile_columns == 64) return of.template operator()<Tile<64, 64, 4>>();
    of.template operator()<Tile<128, 128, 8>>();
  };
  if (plan.fours && vector_aligned(args.in(kFirst), args.in(kSecond))) {
    run(problem_of.template operator()<true>());
  } else {
    run(problem_of.template operator()<false>());
  }
}

template <bool kBackward>
Kernel by_tiles(const OwnConvPlan& plan, const Conv2dAttrs& attrs) {
  return launching(plan, [=, g = ConvGeometry(plan.shape)](const Args& args) {
    const bool store_fours = plan.product.n % 4 == 0 && vector_aligned(args.out(kFirst));
    const auto problem = [&]<bool kVector>() {
      return ImagesProblem<kVector, kBackward>{
          g,          args.in(kFirst), args.in(kSecond), args.out(kFirst), tail_of(args, attrs),
          store_fours};
    };
    enqueue_tiles(kBackward ? "conv2d_grad_input" : "conv2d", plan, args, problem);
  });
}

// ---- gradients of weights

/// Returns where the parts' sums go first.
float* partials(const Args& args, const OwnConvPlan& plan) {
  return plan.parts > 1 ? args.work() : args.out(kFirst);
}
/// Makes dw of them.
void add_partials(const Args& args, const OwnConvPlan& plan) {
  const std::int64_t weights = plan.shape.weights();
  if (plan.parts == 1) return;
  add_parts(args.stream, "conv2d_grad_weight sums", args.work(), plan.parts, weights,
            SumTargets{.first = args.out(kFirst), .first_count = weights});
}

template <bool kDepthwise>
Kernel weights_by_direct(const OwnConvPlan& plan) {
  return launching(plan, [=, g = ConvGeometry(plan.shape)](const Args& args) {
    const float* x = args.in(Conv2dGradWeightOp::In::x);
    const float* dz = args.in(Conv2dGradWeightOp::In::dz);
    const bool vectors = plan.fours && vector_aligned(x, dz);
    const dim3 grid(static_cast<unsigned>(plan.parts),
                    ceil_div(plan.shape.co, plan.lanes * (vectors ? 4 : 1)),
                    ceil_div(plan.shape.taps(), kTapsOfThread));
    launch(args.stream, "conv2d_grad_weight direct", {.grid = grid, .block = kBlock},
           vectors ? conv_direct_grad_weight<4, kDepthwise>
                   : conv_direct_grad_weight<1, kDepthwise>,
           g, x, dz, partials(args, plan), plan.lanes, plan.part_pixels);
    add_partials(args, plan);
  });
}

Kernel weights_by_tiles(const OwnConvPlan& plan) {
  return launching(plan, [=, g = ConvGeometry(plan.shape)](const Args& args) {
    float* sums = partials(args, plan);
    const bool store_fours = plan.product.n % 4 == 0 && vector_aligned(sums);
    const auto problem = [&]<bool kVector>() {
      return GradWeightProblem<kVector>{g,
                                        args.in(Conv2dGradWeightOp::In::x),
                                        args.in(Conv2dGradWeightOp::In::dz),
                                        sums,
                                        static_cast<int>(plan.shape.attrs.groups),
                                        plan.part_pixels,
                                        store_fours};
    };
    enqueue_tiles("conv2d_grad_weight", plan, args, problem);
    add_partials(args, plan);
  });
}

// ---- which

std::optional<Kernel> grad_input(const NodeView& node, const Context&) {
  using In = Conv2dGradInputOp::In;
  const ConvShape s =
      static_cast<const Conv2dGradInputOp&>(node.op).shape(node.in(In::dz), node.in(In::w));
  const std::optional<OwnConvPlan> plan = plan_own_conv(ConvPass::grad_input, s);
  if (!plan) return std::nullopt;
  switch (plan->kind) {
    case Kind::product:
      return product_of_inputs(plan->product, In::dz, In::w,
                               [](const Args&) { return ConvTail{}; });
    case Kind::depthwise: return by_direct<true, true>(*plan, {});
    case Kind::direct:
    case Kind::tiles: break;
  }
  return by_tiles<true>(*plan, {});
}

std::optional<Kernel> grad_weight(const NodeView& node, const Context&) {
  using In = Conv2dGradWeightOp::In;
  const ConvShape s =
      static_cast<const Conv2dGradWeightOp&>(node.op).shape(node.in(In::x), node.in(In::dz));
  const std::optional<OwnConvPlan> plan = plan_own_conv(ConvPass::grad_weight, s);
  if (!plan) return std::nullopt;
  switch (plan->kind) {
    case Kind::product:
      return product_of_inputs(plan->product, In::dz, In::x,
                               [](const Args&) { return ConvTail{}; });
    case Kind::direct: return weights_by_direct<false>(*plan);
    case Kind::depthwise: return weights_by_direct<true>(*plan);
    case Kind::tiles: break;
  }
  return weights_by_tiles(*plan);
}

template <Prepare own>
std::optional<Kernel> prepare_conv2d(const NodeView& node, const Context& context) {
  return through_f32(node, context, own, true);
}

/// Nobody has to round what is f32 here.
std::optional<Kernel> prepare_grad_weight(const NodeView& node, const Context& context) {
  if (is_half(node.outputs[kFirst].dtype)) return std::nullopt;
  return through_f32(node, context, grad_weight, false);
}

}  // namespace

std::optional<Kernel> own_conv2d(const NodeView& node, const Context& /*context*/) {
  using In = Conv2dOp::In;
  const Conv2dAttrs attrs = node.attrs<Conv2dOp>();
  const ConvShape s = conv_shape(attrs, node.in(In::x), node.in(In::w), "");
  const std::optional<OwnConvPlan> plan = plan_own_conv(ConvPass::forward, s);
  if (!plan) return std::nullopt;
  switch (plan->kind) {
    case Kind::product:
      return product_of_inputs(plan->product, In::x, In::w,
                               [=](const Args& args) { return tail_of(args, attrs); });
    case Kind::direct: return by_direct<false, false>(*plan, attrs);
    case Kind::depthwise: return by_direct<true, false>(*plan, attrs);
    case Kind::tiles: break;
  }
  return by_tiles<false>(*plan, attrs);
}

void register_conv2d(Registry& registry) {
  registry.add(Conv2dOp::kName, prepare_conv2d<own_conv2d>, Stores::half);
  registry.add(Conv2dGradInputOp::kName, prepare_conv2d<grad_input>, Stores::half);
  registry.add(Conv2dGradWeightOp::kName, prepare_grad_weight, Stores::half);
}

}  // namespace linnet::cuda
