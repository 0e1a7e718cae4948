// SPDX-License-Identifier: Apache-2.0
// Convolutions by cuDNN: one graph with bias and activation where it has an engine for that, else
// the plain one and a kernel after it.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "backend/cuda/cublaslt.h"
#include "backend/cuda/cudnn.h"
#include "backend/cuda/half_operands.h"
#include "backend/cuda/kernel.h"
#include "backend/cuda/workspace.h"
#include "base/check.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv2d/engines_cuda.h"
#include "ops/dense/passes_cuda.h"
#include "ops/dense/products_cuda.h"

namespace linnet::cuda {
namespace {

using Direction = CudnnConvolution::Direction;
using Tail = CudnnConvolution::Tail;
using PlanPtr = std::shared_ptr<const CudnnPlan>;

/// Terms and filters up to which a product is short: they fill a quarter of a tile of 128 filters
/// at most. Judged, not measured.
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
    case Precision::fp16: return CudnnMath::fp16;
    case Precision::automatic:
    case Precision::tf32:
    case Precision::fp64: break;  // a network of fp64 does not come to a GPU
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

/// The tail of a forward convolution that the plan leaves out; nothing for gradients.
struct ConvTail {
  bool bias = false;
  Activation activation = Activation::none;

  bool is_empty() const { return !bias && activation == Activation::none; }
  const float* b(const Args& args) const { return bias ? args.in(Conv2dOp::In::b) : nullptr; }
};

void enqueue_tail(const Args& args, const ConvShape& s, const ConvTail& tail) {
  if (tail.is_empty()) return;
  float* y = args.out(Conv2dOp::Out::y);
  enqueue_result(args.stream, {.x = y,
                               .x_stride = s.co,
                               .y = y,
                               .rows = s.n * s.out_pixels(),
                               .columns = s.co,
                               .b = tail.b(args),
                               .activation = tail.activation});
}

// ---- in 16 bits

/// Images and weights as matrices, with their padding to multiples of 8 channels.
HalfOperand matrix(std::int64_t lines, std::int64_t channels, std::int64_t padded) {
  return {DType::f32, lines, channels, lines, padded};
}
HalfOperand weights(const CudnnConvolution& conv, const CudnnConvolution& padded) {
  const std::int64_t taps = conv.kh * conv.kw;
  return {DType::f32, conv.co * taps, conv.c / conv.groups, padded.co * taps,
          padded.c / padded.groups};
}

/// Both operands and the result of a convolution.
std::array<HalfOperand, 3> operands_of(const CudnnConvolution& conv,
                                       const CudnnConvolution& padded) {
  const HalfOperand in = matrix(conv.n * conv.h * conv.w, conv.c, padded.c);
  const HalfOperand out = matrix(conv.n * conv.oh * conv.ow, conv.co, padded.co);
  const HalfOperand w = weights(conv, padded);
  switch (conv.direction) {
    case Direction::forward: break;
    case Direction::grad_input: return {out, w, in};
    case Direction::grad_weight: return {in, out, w};
  }
  return {in, w, out};
}

/// Returns a plan with the bias and the activation in it, where cuDNN has a good one.
PlanPtr fused_plan(const Context& context, CudnnConvolution conv, const ConvTail& tail) {
  conv.bias = tail.bias;
  conv.tail = tail_of(tail.activation);
  PlanPtr plan = context.cudnn->plan(conv, context.tuning);
  // cuDNN may have no more than its generic, slow engine for other activations.
  const bool usual = conv.tail == Tail::none || conv.tail == Tail::relu;
  return plan && (usual || plan->tensor_cores()) ? plan : nullptr;
}

/// A convolution in 16 bits as cuDNN takes it; null where it does not.
struct HalfPlan {
  CudnnConvolution conv;
  PlanPtr plan = nullptr;
  bool fused = false;  ///< whether the tail is in it

  HalfPlan(const Context& context, const CudnnConvolution& wanted, const ConvTail& tail)
      : conv(wanted) {
    if (!tail.is_empty()) plan = fused_plan(context, conv, tail);
    fused = plan != nullptr;
    if (!fused) plan = context.cudnn->plan(conv, context.tuning);
  }
  bool tensor_cores() const { return plan && plan->tensor_cores(); }
};

/// Channels are padded to multiples of 8 where cuDNN's tensor cores take that alone.
HalfPlan half_plan(const Context& context, const CudnnConvolution& conv, const ConvTail& tail) {
  HalfPlan plan(context, conv, tail);
  CudnnConvolution padded = conv;
  padded.c = padded_to_eight(conv.c);
  padded.co = padded_to_eight(conv.co);
  if (plan.tensor_cores() || conv.groups > 1 || padded == conv) return plan;
  const HalfPlan other(context, padded, tail);
  return other.tensor_cores() ? other : plan;
}

/// Returns text for dumps: ", 3 -> 8 channels" of the input or the output.
std::string padding(const CudnnConvolution& conv, const CudnnConvolution& padded) {
  std::string text;
  if (padded.c != conv.c) text += fmt::format(", {} -> {} channels", conv.c, padded.c);
  if (padded.co != conv.co) text += fmt::format(", {} -> {} channels", conv.co, padded.co);
  return text;
}

/// Operands in 16 bits, in the workspace where they are not stored so or have to be padded; then
/// `tail`. The plan's result goes there too unless it is the node's. Null where cuDNN has no
/// engine.
std::optional<Kernel> in_half(const NodeView& node, const Context& context,
                              const CudnnConvolution& conv, const ConvTail& tail) {
  const std::size_t b = Conv2dOp::In::b;
  if (!stores_only(node, {kFirst, kSecond, tail.bias ? b : kSecond}, {kFirst})) return std::nullopt;
  const DType y_type = node.outputs[kFirst].dtype;
  const HalfPlan chosen = half_plan(context, conv, tail);
  const bool bias = chosen.fused && tail.bias;
  const DType bias_type = tail.bias ? node.inputs[b].dtype : DType::f32;
  if (!chosen.plan || (!bias && is_half(bias_type))) return std::nullopt;
  auto [first, second, result] = operands_of(conv, chosen.conv);
  first.type = node.inputs[kFirst].dtype;
  second.type = node.inputs[kSecond].dtype;
  result.type = operand_type(conv.math);
  const ConvTail rest = chosen.fused ? ConvTail{} : tail;
  const bool there = !result.is_padded() && rest.is_empty() && result.type == y_type;
  std::vector<HalfOperand> inputs{first, second};
  if (bias) {
    inputs.push_back(matrix(1, conv.co, chosen.conv.co));
    inputs.back().type = bias_type;
  }
  const HalfOperands operands(result.type, inputs);
  const std::size_t result_bytes = there ? 0 : chosen.conv.operand_bytes().back();
  const std::size_t plan_at = operands.bytes() + library_padded(result_bytes);
  const auto enqueue = [=, plan = chosen.plan](const Args& args) {
    const auto copies = operands.enqueue(args, args.workspace);
    void* const y = there ? args.outputs[kFirst] : args.workspace + operands.bytes();
    std::vector<void*> all(copies.begin(), copies.begin() + (bias ? 3 : 2));
    all.push_back(y);
    plan->execute(args.stream, all, args.workspace + plan_at);
    if (there) return;
    enqueue_result(args.stream, {.x = y,
                                 .x_type = result.type,
                                 .x_stride = result.padded_columns,
                                 .y = args.outputs[kFirst],
                                 .y_type = y_type,
                                 .rows = result.rows,
                                 .columns = result.columns,
                                 .b = rest.b(args),
                                 .activation = rest.activation});
  };
  return Kernel{.enqueue = enqueue,
                .workspace_bytes = plan_at + chosen.plan->workspace_bytes(),
                .engine = fmt::format("{}, {}{}", chosen.plan->engine(),
                                      enum_names(conv.math).at(static_cast<std::size_t>(conv.math)),
                                      padding(conv, chosen.conv))};
}

/// Null where cuDNN has no engine. A device without that type computes in f32.
std::optional<Kernel> plain(const NodeView& node, const Context& context, CudnnConvolution conv,
                            const ConvShape& s, const ConvTail& tail = {}) {
  if (operand_type(conv.math) != DType::f32) {
    if (std::optional<Kernel> kernel = in_half(node, context, conv, tail)) return kernel;
    if (stores_half(node)) return std::nullopt;
    conv.math = CudnnMath::tf32;
  }
  const PlanPtr plan = context.cudnn->plan(conv, context.tuning);
  if (!plan) return std::nullopt;
  return direct(plan, 2, [=](const Args& args) { enqueue_tail(args, s, tail); });
}

/// Returns a convolution of single pixels as a product of matrices with a pixel in each row; null
/// for others.
std::optional<NodeProduct> as_product(const CudnnConvolution& s, const ConvTail& tail) {
  const bool single = s.kh == 1 && s.kw == 1 && s.stride_h == 1 && s.stride_w == 1 &&
                      s.pad_top == 0 && s.pad_bottom == 0 && s.pad_left == 0 && s.pad_right == 0;
  if (!single || s.groups > 1) return std::nullopt;
  NodeProduct node{.tf32 = s.math != CudnnMath::fp32,
                   .tail = {.bias = tail.bias, .activation = tail.activation}};
  const std::int64_t pixels = s.n * s.h * s.w;
  switch (s.direction) {
    case Direction::forward:
      node.product = {.m = pixels, .n = s.co, .k = s.c, .transpose_b = true};
      break;
    case Direction::grad_input: node.product = {.m = pixels, .n = s.c, .k = s.co}; break;
    case Direction::grad_weight:  // dzᵀ x, of operands x and dz
      node.product = {.m = s.co, .n = s.c, .k = pixels, .transpose_a = true};
      node.swapped = true;
      break;
  }
  return node;
}

/// Returns cuBLASLt's kernel for the convolution where it is a product and a trial has found that
/// faster than cuDNN's, which `by_cudnn` makes; else that.
std::optional<Kernel> or_product(const NodeView& node, const Context& context,
                                 CudnnConvolution conv, const ConvTail& tail,
                                 const Cudnn::Make& by_cudnn) {
  const std::optional<NodeProduct> product = as_product(conv, tail);
  if (!product || context.cublaslt == nullptr) return by_cudnn();
  conv.bias = tail.bias;
  conv.tail = tail_of(tail.activation);
  const auto stored = [](const ValueType& type) { return to_string(type.dtype); };
  const std::string rival = fmt::format("a product, {} {} -> {}: {}", stored(node.inputs[kFirst]),
                                        stored(node.inputs[kSecond]), stored(node.outputs[kFirst]),
                                        context.cublaslt->description());
  std::optional<Kernel> faster = context.cudnn->rival_if_faster(
      conv, rival, node, by_cudnn, [&] { return cublaslt_product(node, context, *product); },
      context.tuning);
  return faster ? faster : by_cudnn();
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& context,
                                       Direction direction, const ConvShape& s) {
  if (!asked(s, context)) return std::nullopt;
  const CudnnConvolution conv = convolution(direction, s, math_of(context));
  return or_product(node, context, conv, {}, [&] { return plain(node, context, conv, s); });
}

std::optional<Kernel> prepare_grad_input(const NodeView& node, const Context& context) {
  using In = Conv2dGradInputOp::In;
  const auto& op = static_cast<const Conv2dGradInputOp&>(node.op);
  const ConvShape s = op.shape(node.in(In::dz), node.in(In::w));
  return prepare_gradient(node, context, Direction::grad_input, s);
}

std::optional<Kernel> prepare_grad_weight(const NodeView& node, const Context& context) {
  using In = Conv2dGradWeightOp::In;
  const auto& op = static_cast<const Conv2dGradWeightOp&>(node.op);
  const ConvShape s = op.shape(node.in(In::x), node.in(In::dz));
  return prepare_gradient(node, context, Direction::grad_weight, s);
}

}  // namespace

std::optional<Kernel> cudnn_conv2d(const NodeView& node, const Context& context) {
  using In = Conv2dOp::In;
  const Conv2dAttrs attrs = node.attrs<Conv2dOp>();
  const ConvShape s = conv_shape(attrs, node.in(In::x), node.in(In::w), "");
  if (!asked(s, context)) return std::nullopt;
  const CudnnConvolution conv = convolution(Direction::forward, s, math_of(context));
  const ConvTail tail{.bias = attrs.bias, .activation = attrs.activation};
  return or_product(node, context, conv, tail, [&]() -> std::optional<Kernel> {
    if (!tail.is_empty() && operand_type(conv.math) == DType::f32) {
      if (const PlanPtr plan = fused_plan(context, conv, tail)) {
        return direct(plan, attrs.bias ? 3 : 2, [](const Args& /*args*/) {});
      }
    }
    return plain(node, context, conv, s, tail);
  });
}

std::optional<Kernel> cudnn_conv2d_residual(const NodeView& node, const Context& context,
                                            Activation activation) {
  using In = Conv2dOp::In;
  const Conv2dAttrs attrs = node.attrs<Conv2dOp>();
  const ConvShape s = conv_shape(attrs, node.in(In::x), node.in(In::w), "");
  CudnnConvolution conv = convolution(Direction::forward, s, math_of(context));
  const bool usual = activation == Activation::none || activation == Activation::relu;
  const bool as_they_are =
      is_of_one_type(node) && node.outputs[kFirst].dtype == operand_type(conv.math);
  if (!asked(s, context) || conv.math == CudnnMath::fp32 || !usual || !as_they_are) {
    return std::nullopt;
  }
  conv.bias = attrs.bias;
  conv.residual = true;
  conv.tail = tail_of(activation);
  const PlanPtr plan = context.cudnn->plan(conv, context.tuning);
  if (!plan || !(plan->tensor_cores() || conv.math == CudnnMath::tf32)) return std::nullopt;
  return direct(plan, attrs.bias ? 4 : 3, [](const Args& /*args*/) {});
}

void register_conv2d_cudnn(Registry& registry) {
  const auto prepare = [](const NodeView& node, const Context& context) {
    return with_packed_weights(node, context, cudnn_conv2d);
  };
  registry.add_library(Conv2dOp::kName, "cudnn", prepare, Stores::half);
  registry.add_library(Conv2dGradInputOp::kName, "cudnn", prepare_grad_input, Stores::half);
  registry.add_library(Conv2dGradWeightOp::kName, "cudnn", prepare_grad_weight, Stores::half);
}

}  // namespace linnet::cuda
