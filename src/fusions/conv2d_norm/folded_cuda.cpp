// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_norm/folded_cuda.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace linnet::cuda {
namespace {

using In = Conv2dNormOp::In;
using NormIn = BatchNormInferenceOp::In;

/// binary16 ends at 65,504: what is larger becomes that, since infinity would make NaN of zeros.
constexpr float kLargestF16 = 65504;

}  // namespace

std::optional<Kernel> folded_conv2d(const NodeView& node, const Context& context, Prepare engine,
                                    PrepareResidual with_residual) {
  const Conv2dNormAttrs& attrs = node.attrs<Conv2dNormOp>();
  const bool residual = attrs.norm.residual;
  const ValueType y = node.outputs[kFirst];
  const std::size_t last = node.inputs.size() - 1;
  const DType residual_type = node.inputs[last].dtype;
  if (!stores_only(node, {In::x, residual ? last : std::size_t{In::x}}, {kFirst}) ||
      (residual && is_half(y.dtype) && residual_type != y.dtype)) {
    return std::nullopt;
  }
  Conv2dAttrs plain = attrs.conv;
  plain.bias = true;
  if (!residual) plain.activation = attrs.norm.activation;
  const Conv2dOp op(plain);
  const std::int64_t channels = node.in(In::w)[0];
  const std::int64_t weights = node.in(In::w).elements();
  Folded folded{attrs, DType::f32, channels, channels > 0 ? weights / channels : 0};
  // Of Linnet's own kernels a residual takes f32 sums, of libraries what they leave.
  ValueType z = y;
  if (residual && with_residual == nullptr) z.dtype = DType::f32;
  std::optional<Kernel> conv;
  bool later = residual;
  // In 16 bits cuDNN wants the bias so too; what does not take that rounds weights by itself.
  for (const DType type : {context.half(), DType::f32}) {
    folded.type = type;
    const std::array<ValueType, 3> operands{node.inputs[In::x],
                                            {type, node.in(In::w)},
                                            {type, Shape{channels}}};
    const NodeView conv_node{op, operands, {&z, 1}, {true}};
    if (residual && with_residual != nullptr) {
      conv = with_residual(conv_node, context, attrs.norm.activation);
      later = !conv;
    }
    if (!conv) conv = engine(conv_node, context);
    if (conv || type == DType::f32) break;
  }
  if (!conv) return std::nullopt;
  bool fixed = true;
  for (std::size_t i = In::w; i < Conv2dNormOp(attrs).norm_input(NormIn::residual); ++i) {
    fixed = fixed && node.fixed(i);
  }
  const std::size_t folded_at = library_padded(conv->workspace_bytes);
  const std::size_t z_at = folded_at + (fixed ? 0 : folded.bytes());
  const bool z_is_y = z.dtype == y.dtype;
  const float limit = context.half() == DType::f16 ? kLargestF16 : INFINITY;
  Kernel kernel;
  kernel.enqueue = [=, run = conv->enqueue, activation = attrs.norm.activation](const Args& args) {
    std::byte* const begin = fixed ? args.packed : args.workspace + folded_at;
    if (!fixed) enqueue_fold(args, folded, limit, begin);
    const std::array<void*, 4> inputs{args.inputs[In::x], begin, begin + folded.biases_at(),
                                      args.inputs.back()};
    void* const sums = z_is_y ? args.outputs[kFirst] : args.workspace + z_at;
    Args inner = args;
    inner.inputs = inputs;
    inner.outputs = {&sums, 1};
    run(inner);
    if (later) enqueue_residual(args, activation, y, sums, z.dtype, residual_type);
  };
  kernel.engine = conv->engine;
  kernel.workspace_bytes =
      std::max(conv->workspace_bytes, z_is_y ? (fixed ? 0 : z_at) : z_at + z.bytes());
  if (fixed) {
    kernel.pack = [=](const Args& args) { enqueue_fold(args, folded, limit, args.packed); };
    kernel.packed_bytes = folded.bytes();
  }
  return kernel;
}

}  // namespace linnet::cuda
