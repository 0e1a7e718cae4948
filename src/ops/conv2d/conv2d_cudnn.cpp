// SPDX-License-Identifier: Apache-2.0
// Convolutions by cuDNN: one graph with bias and activation where it has an engine for that, else
// the plain one and a kernel after it.
#include <algorithm>
#include <array>

#include "backend/cuda/cudnn.h"
#include "backend/cuda/cudnn_widen.h"
#include "backend/cuda/kernel.h"
#include "backend/cuda/workspace.h"
#include "base/check.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv2d/engines_cuda.h"
#include "ops/dense/passes_cuda.h"

namespace linnet::cuda {
namespace {

using Direction = CudnnConvolution::Direction;
using Tail = CudnnConvolution::Tail;
using PlanPtr = std::shared_ptr<const CudnnPlan>;

/// Terms and filters up to which a product is short: judged, not measured.
constexpr std::int64_t kFew = 32;

/// Sums so short that a tile of a matrix product would be mostly empty, and depthwise convolutions:
/// Linnet's own kernels read every image once.
bool for_own_kernels(const ConvShape& s) {
  const bool depthwise = s.attrs.groups == s.c && s.co == s.c && s.attrs.groups > 1;
  return depthwise || (s.taps() <= kFew && s.group_out() <= kFew);
}

CudnnMath math_of(const Context& context) {
  switch (context.precision) {
    case Precision::fp32: return CudnnMath::fp32;
    case Precision::bf16: return CudnnMath::bf16;
    case Precision::automatic:
    case Precision::tf32: break;
  }
  return CudnnMath::tf32;
}

Tail tail_of(Activation activation) {
  switch (activation) {
    case Activation::none: break;
    case Activation::relu: return Tail::relu;
    case Activation::tanh: return Tail::tanh;
    case Activation::sigmoid: return Tail::sigmoid;
    case Activation::gelu: return Tail::gelu;
  }
  return Tail::none;
}

CudnnConvolution convolution(Direction direction, const ConvShape& s, CudnnMath math) {
  const Conv2dAttrs& a = s.attrs;
  return {.direction = direction,
          .math = math,
          .n = s.n,
          .h = s.h,
          .w = s.w,
          .c = s.c,
          .oh = s.oh,
          .ow = s.ow,
          .co = s.co,
          .kh = s.kh,
          .kw = s.kw,
          .stride_h = a.stride_h,
          .stride_w = a.stride_w,
          .dilation_h = a.dilation_h,
          .dilation_w = a.dilation_w,
          .pad_top = a.pad_top,
          .pad_bottom = a.pad_bottom,
          .pad_left = a.pad_left,
          .pad_right = a.pad_right,
          .groups = a.groups};
}

/// Returns where cuDNN is asked at all.
bool asked(const ConvShape& s, const Context& context) {
  return context.options.cudnn && context.cudnn != nullptr && s.n > 0 && !for_own_kernels(s);
}

void enqueue_tail(const Args& args, const ConvShape& s, const Conv2dAttrs& attrs) {
  if (!attrs.bias && attrs.activation == Activation::none) return;
  enqueue_bias_activation(args.stream, args.out(Conv2dOp::Out::y), s.n * s.out_pixels(), s.co,
                          attrs.bias ? args.in(Conv2dOp::In::b) : nullptr, attrs.activation);
}

/// Returns a plan on the first `inputs` operands as they are; `tail` is what the plan leaves out.
template <class F>
Kernel direct(const PlanPtr& plan, std::size_t inputs, F tail) {
  return {.enqueue =
              [plan, inputs, tail](const Args& args) {
                std::array<void*, 5> operands{};
                std::copy_n(args.inputs.begin(), inputs, operands.begin());
                operands.at(inputs) = args.outputs[kFirst];
                plan->execute(args.stream, std::span(operands).first(inputs + 1), args.workspace);
                tail(args);
              },
          .workspace_bytes = plan->workspace_bytes(),
          .engine = plan->engine()};
}

/// Holds what the bfloat16 copies of two operands and the result take in the workspace, the plan's
/// own workspace after them.
struct Bf16Layout {
  explicit Bf16Layout(const CudnnConvolution& conv) {
    const std::vector<std::size_t> bytes = conv.operand_bytes();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<std::int64_t>(bytes.at(i) / 2);
      starts[i] = end;
      end += library_padded(bytes[i]);
    }
  }
  std::array<std::int64_t, 3> elements{};
  std::array<std::size_t, 3> starts{};
  std::size_t end = 0;
};

/// Both inputs rounded to bfloat16, the plan, and its result widened; then `tail`.
template <class F>
Kernel through_bf16(const PlanPtr& plan, const CudnnConvolution& conv, F tail) {
  const Bf16Layout layout(conv);
  return {.enqueue =
              [plan, layout, tail](const Args& args) {
                const auto copy = [&](std::size_t i) {
                  const std::int64_t n = layout.elements[i];
                  return Bf16Copy{.from = args.in(i),
                                  .to = args.workspace + layout.starts[i],
                                  .rows = 1,
                                  .columns = n,
                                  .stride = (n + 3) / 4 * 4};
                };
                enqueue_bf16_copies(args.stream, copy(0), copy(1));
                std::array<void*, 3> operands{};
                for (std::size_t i = 0; i < operands.size(); ++i) {
                  operands[i] = args.workspace + layout.starts[i];
                }
                plan->execute(args.stream, operands, args.workspace + layout.end);
                enqueue_widening(args.stream, operands[2], args.out(kFirst), layout.elements[2]);
                tail(args);
              },
          .workspace_bytes = layout.end + plan->workspace_bytes(),
          .engine = plan->engine() + ", bf16"};
}

void no_tail(const Args& /*args*/) {}

/// Null where cuDNN has no engine. A device without bfloat16 computes in f32.
template <class F>
std::optional<Kernel> plain(CudnnConvolution conv, const Context& context, F tail) {
  if (conv.math == CudnnMath::bf16) {
    if (const PlanPtr plan = context.cudnn->plan(conv, context.tuning)) {
      return through_bf16(plan, conv, tail);
    }
    conv.math = CudnnMath::tf32;
  }
  const PlanPtr plan = context.cudnn->plan(conv, context.tuning);
  if (!plan) return std::nullopt;
  return direct(plan, 2, tail);
}

std::optional<Kernel> prepare_grad_input(const NodeView& node, const Context& context) {
  using In = Conv2dGradInputOp::In;
  const auto& op = static_cast<const Conv2dGradInputOp&>(node.op);
  const ConvShape s = op.shape(node.in(In::dz), node.in(In::w));
  if (!asked(s, context)) return std::nullopt;
  return plain(convolution(Direction::grad_input, s, math_of(context)), context, no_tail);
}

std::optional<Kernel> prepare_grad_weight(const NodeView& node, const Context& context) {
  using In = Conv2dGradWeightOp::In;
  const auto& op = static_cast<const Conv2dGradWeightOp&>(node.op);
  const ConvShape s = op.shape(node.in(In::x), node.in(In::dz));
  if (!asked(s, context)) return std::nullopt;
  return plain(convolution(Direction::grad_weight, s, math_of(context)), context, no_tail);
}

}  // namespace

std::optional<Kernel> cudnn_conv2d(const NodeView& node, const Context& context) {
  using In = Conv2dOp::In;
  const Conv2dAttrs attrs = node.attrs<Conv2dOp>();
  const ConvShape s = conv_shape(attrs, node.in(In::x), node.in(In::w), "");
  if (!asked(s, context)) return std::nullopt;
  CudnnConvolution conv = convolution(Direction::forward, s, math_of(context));
  const bool tail = attrs.bias || attrs.activation != Activation::none;
  if (!tail) return plain(conv, context, no_tail);
  if (conv.math != CudnnMath::bf16) {
    CudnnConvolution fused = conv;
    fused.bias = attrs.bias;
    fused.tail = tail_of(attrs.activation);
    const PlanPtr plan = context.cudnn->plan(fused, context.tuning);
    // For other activations there may be no more than cuDNN's generic, slow engine.
    const bool usual = fused.tail == Tail::none || fused.tail == Tail::relu;
    if (plan && (usual || plan->tensor_cores())) return direct(plan, attrs.bias ? 3 : 2, no_tail);
  }
  return plain(conv, context, [s, attrs](const Args& args) { enqueue_tail(args, s, attrs); });
}

std::optional<Kernel> cudnn_conv2d_residual(const NodeView& node, const Context& context,
                                            Activation activation) {
  using In = Conv2dOp::In;
  const Conv2dAttrs attrs = node.attrs<Conv2dOp>();
  const ConvShape s = conv_shape(attrs, node.in(In::x), node.in(In::w), "");
  CudnnConvolution conv = convolution(Direction::forward, s, math_of(context));
  const bool usual = activation == Activation::none || activation == Activation::relu;
  if (!asked(s, context) || conv.math != CudnnMath::tf32 || !usual) return std::nullopt;
  conv.bias = attrs.bias;
  conv.residual = true;
  conv.tail = tail_of(activation);
  const PlanPtr plan = context.cudnn->plan(conv, context.tuning);
  if (!plan) return std::nullopt;
  return direct(plan, attrs.bias ? 4 : 3, no_tail);
}

void register_conv2d_cudnn(Registry& registry) {
  registry.add_library(Conv2dOp::kName, "cudnn", cudnn_conv2d);
  registry.add_library(Conv2dGradInputOp::kName, "cudnn", prepare_grad_input);
  registry.add_library(Conv2dGradWeightOp::kName, "cudnn", prepare_grad_weight);
}

}  // namespace linnet::cuda
