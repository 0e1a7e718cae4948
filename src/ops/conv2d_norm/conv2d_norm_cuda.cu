// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/half_operands.h"
#include "backend/cuda/workspace.h"
#include "ops/activation/epilogue_cuda.cuh"
#include "ops/conv2d/engines_cuda.h"
#include "ops/conv2d_norm/conv2d_norm.h"
#include "ops/conv2d_norm/folded_cuda.h"

namespace linnet::cuda {
namespace {

using In = Conv2dNormOp::In;
using Norm = BatchNormInferenceOp::In;

/// Folded weights and after them biases, as an engine takes them.
struct Folded {
  Conv2dNormAttrs attrs;
  DType type;
  std::int64_t channels;
  std::int64_t taps;

  std::size_t biases_at() const { return library_padded(bytes_of(channels * taps)); }
  std::size_t bytes() const { return library_padded(biases_at() + bytes_of(channels)); }

 private:
  std::size_t bytes_of(std::int64_t elements) const {
    return size_of(type) * static_cast<std::size_t>(elements);
  }
};

/// binary16 ends at 65,504: what is larger becomes that, since infinity would make NaN of zeros.
constexpr float kLargestF16 = 65504;

/// weights = w gamma / std, biases = beta + (b - mean) gamma / std, at most `limit`
template <class T>
void fold(const Args& args, const Folded& folded, float limit, std::byte* to) {
  const Conv2dNormOp op(folded.attrs);
  const auto fold_one = [limit, taps = folded.taps,
                         epsilon = static_cast<float>(
                             folded.attrs.norm.epsilon)] __device__(std::int64_t i, const float* w,
                                                                    const float* before,
                                                                    const float* gamma,
                                                                    const float* beta,
                                                                    const float* mean,
                                                                    const float* var, T* weights,
                                                                    T* biases) {
    const auto limited = [limit](float x) { return fabsf(x) > limit ? copysignf(limit, x) : x; };
    const std::int64_t c = i / taps;
    const float factor = gamma[c] / sqrtf(var[c] + epsilon);
    weights[i] = stored_as<T>(limited(w[i] * factor));
    const float b = before != nullptr ? before[c] : 0.0F;
    const float bias = beta[c] + (b - mean[c]) * factor;
    if (i == c * taps) biases[c] = stored_as<T>(limited(bias));
  };
  const auto operand = [&](Norm of_norm) { return args.in(op.norm_input(of_norm)); };
  for_each_item(args.stream, "conv2d_norm fold", folded.channels * folded.taps, fold_one,
                args.in(In::w), folded.attrs.conv.bias ? args.in(In::b) : nullptr,
                operand(Norm::gamma), operand(Norm::beta), operand(Norm::running_mean),
                operand(Norm::running_var), reinterpret_cast<T*>(to),
                reinterpret_cast<T*>(to + folded.biases_at()));
}

/// y = f(z + residual), where z may be y
template <class Y, class R, class Z>
void add_residual(const Args& args, Activation activation, std::int64_t elements, const Z* z) {
  map_elements(
      args.stream, "conv2d_norm",
      [=] __device__(float sum, float residual) { return activated(activation, sum + residual); },
      elements, args.out<Y>(kFirst), z, static_cast<const R*>(args.inputs.back()));
}

std::optional<Kernel> own(const NodeView& node, const Context& context) {
  return through_f32(node, context, own_conv2d, true);
}

std::optional<Kernel> prepare(const NodeView& node, const Context& context) {
  return folded_conv2d(node, context, own);
}

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
    if (conv) break;
  }
  if (!conv) return std::nullopt;
  bool fixed = true;
  for (std::size_t i = In::w; i < Conv2dNormOp(attrs).norm_input(Norm::residual); ++i) {
    fixed = fixed && node.fixed(i);
  }
  const std::size_t folded_at = library_padded(conv->workspace_bytes);
  const std::size_t z_at = folded_at + (fixed ? 0 : folded.bytes());
  const bool z_is_y = z.dtype == y.dtype;
  const float limit = context.half() == DType::f16 ? kLargestF16 : INFINITY;
  const auto enqueue_fold = [=](const Args& args, std::byte* to) {
    with_element(folded.type, [&]<class T>() { fold<T>(args, folded, limit, to); });
  };
  Kernel kernel;
  kernel.enqueue = [=, run = conv->enqueue, norm = attrs.norm](const Args& args) {
    std::byte* const begin = fixed ? args.packed : args.workspace + folded_at;
    if (!fixed) enqueue_fold(args, begin);
    const std::array<void*, 4> inputs{args.inputs[In::x], begin, begin + folded.biases_at(),
                                      args.inputs.back()};
    void* const sums = z_is_y ? args.outputs[kFirst] : args.workspace + z_at;
    Args inner = args;
    inner.inputs = inputs;
    inner.outputs = {&sums, 1};
    run(inner);
    if (!later) return;
    with_element(residual_type, [&]<class T>() {
      const auto* in_f32 = static_cast<const float*>(sums);
      if (y.dtype != residual_type) {
        add_residual<float, T>(args, norm.activation, y.shape.elements(), in_f32);
      } else if (z_is_y) {
        add_residual<T, T>(args, norm.activation, y.shape.elements(), args.out<T>(kFirst));
      } else {
        add_residual<T, T>(args, norm.activation, y.shape.elements(), in_f32);
      }
    });
  };
  kernel.engine = conv->engine;
  kernel.workspace_bytes =
      std::max(conv->workspace_bytes, z_is_y ? (fixed ? 0 : z_at) : z_at + z.bytes());
  if (fixed) {
    kernel.pack = [=](const Args& args) { enqueue_fold(args, args.packed); };
    kernel.packed_bytes = folded.bytes();
  }
  return kernel;
}

void register_conv2d_norm(Registry& registry) {
  registry.add(Conv2dNormOp::kName, prepare, Stores::half);
}

}  // namespace linnet::cuda
