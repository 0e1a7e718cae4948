// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/workspace.h"
#include "ops/activation/epilogue_cuda.cuh"
#include "ops/conv2d/engines_cuda.h"
#include "ops/conv2d_norm/conv2d_norm.h"
#include "ops/conv2d_norm/folded_cuda.h"

namespace linnet::cuda {
namespace {

using In = Conv2dNormOp::In;
using Norm = BatchNormInferenceOp::In;

std::optional<Kernel> prepare(const NodeView& node, const Context& context) {
  return folded_conv2d(node, context, own_conv2d);
}

}  // namespace

std::optional<Kernel> folded_conv2d(const NodeView& node, const Context& context, Prepare engine,
                                    PrepareResidual with_residual) {
  if (context.half() != DType::f32) return std::nullopt;
  const Conv2dNormAttrs& attrs = node.attrs<Conv2dNormOp>();
  const Conv2dNormOp norm(attrs);
  Conv2dAttrs plain = attrs.conv;
  plain.bias = true;
  if (!attrs.norm.residual) plain.activation = attrs.norm.activation;
  const Conv2dOp op(plain);
  const std::int64_t channels = node.in(In::w)[0];
  const std::array<ValueType, 3> operands{node.inputs[In::x], node.inputs[In::w],
                                          ValueType{DType::f32, Shape{channels}}};
  const NodeView conv_node{op, operands, node.outputs, {true}};
  std::optional<Kernel> conv;
  if (attrs.norm.residual && with_residual != nullptr) {
    conv = with_residual(conv_node, context, attrs.norm.activation);
  }
  const bool later = attrs.norm.residual && !conv;
  if (!conv) conv = engine(conv_node, context);
  if (!conv) return std::nullopt;
  bool fixed = true;
  for (std::size_t i = In::w; i < norm.norm_input(Norm::residual); ++i) {
    fixed = fixed && node.fixed(i);
  }
  const std::int64_t weights = node.in(In::w).elements();
  const std::int64_t taps = channels > 0 ? weights / channels : 0;
  const std::size_t bias_at = library_padded(sizeof(float) * static_cast<std::size_t>(weights));
  const std::size_t folded_bytes = bias_at + sizeof(float) * static_cast<std::size_t>(channels);
  const std::size_t folded_at = library_padded(conv->workspace_bytes);
  const auto folded = [=](const Args& args) {
    std::byte* begin = fixed ? args.packed : args.workspace + folded_at;
    return std::pair(reinterpret_cast<float*>(begin), reinterpret_cast<float*>(begin + bias_at));
  };
  // weights = w gamma / std, bias = beta + (b - mean) gamma / std; before may be null
  const auto fold_one = [taps, epsilon = static_cast<float>(attrs.norm.epsilon)] __device__(
                            std::int64_t i, const float* w, const float* before, const float* gamma,
                            const float* beta, const float* mean, const float* var, float* to,
                            float* bias) {
    const std::int64_t c = i / taps;
    const float factor = gamma[c] / sqrtf(var[c] + epsilon);
    to[i] = w[i] * factor;
    const float b = before != nullptr ? before[c] : 0.0F;
    if (i == c * taps) bias[c] = beta[c] + (b - mean[c]) * factor;
  };
  const auto fold = [=](const Args& args) {
    const Conv2dNormOp places(attrs);
    const auto operand = [&](Norm of_norm) { return args.in(places.norm_input(of_norm)); };
    const auto [to, bias] = folded(args);
    for_each_item(args.stream, "conv2d_norm fold", weights, fold_one, args.in(In::w),
                  attrs.conv.bias ? args.in(In::b) : nullptr, operand(Norm::gamma),
                  operand(Norm::beta), operand(Norm::running_mean), operand(Norm::running_var), to,
                  bias);
  };
  const std::int64_t outputs = node.out(Conv2dNormOp::Out::y).elements();
  Kernel kernel;
  kernel.enqueue = [=, run = conv->enqueue, activation = attrs.norm.activation](const Args& args) {
    if (!fixed) fold(args);
    const auto [to, bias] = folded(args);
    const std::array<void*, 4> inputs{args.inputs[In::x], to, bias, args.inputs.back()};
    Args inner = args;
    inner.inputs = inputs;
    run(inner);
    if (!later) return;
    float* y = args.out(Conv2dNormOp::Out::y);
    const auto add_and_activate = [=] __device__(float sum, float residual) {
      return activated(activation, sum + residual);
    };
    map_elements(args.stream, "conv2d_norm", add_and_activate, outputs, y, y,
                 static_cast<const float*>(args.inputs.back()));
  };
  kernel.engine = conv->engine;
  kernel.workspace_bytes = fixed ? conv->workspace_bytes : folded_at + folded_bytes;
  if (fixed) {
    kernel.pack = fold;
    kernel.packed_bytes = folded_bytes;
  }
  return kernel;
}

void register_conv2d_norm(Registry& registry) { registry.add(Conv2dNormOp::kName, prepare); }

}  // namespace linnet::cuda
