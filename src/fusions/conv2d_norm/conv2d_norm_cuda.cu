// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/half_operands.h"
#include "fusions/conv2d_norm/folded_cuda.h"
#include "ops/activation/epilogue_cuda.cuh"
#include "ops/conv2d/engines_cuda.h"

namespace linnet::cuda {
namespace {

using In = Conv2dNormOp::In;
using Norm = BatchNormInferenceOp::In;

template <class T>
void fold(const Args& args, const Folded& folded, float limit, std::byte* to) {
  const Conv2dNormOp op(folded.attrs);
  const auto epsilon = static_cast<float>(folded.attrs.norm.epsilon);
  const auto fold_one = [limit, epsilon,
                         taps = folded.taps] __device__(std::int64_t i, const float* w,
                                                        const float* before, const float* gamma,
                                                        const float* beta, const float* mean,
                                                        const float* var, T* weights, T* biases) {
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

std::optional<Kernel> prepare_conv2d_norm(const NodeView& node, const Context& context) {
  return folded_conv2d(node, context, own);
}

}  // namespace

void enqueue_fold(const Args& args, const Folded& folded, float limit, std::byte* to) {
  with_element(folded.type, [&]<class T>() { fold<T>(args, folded, limit, to); });
}

void enqueue_residual(const Args& args, Activation activation, const ValueType& y, const void* z,
                      DType z_type, DType residual) {
  const std::int64_t elements = y.shape.elements();
  with_element(residual, [&]<class T>() {
    const auto* in_f32 = static_cast<const float*>(z);
    if (y.dtype != residual) {
      add_residual<float, T>(args, activation, elements, in_f32);
    } else if (z_type == y.dtype) {
      add_residual<T, T>(args, activation, elements, static_cast<const T*>(z));
    } else {
      add_residual<T, T>(args, activation, elements, in_f32);
    }
  });
}

void register_conv2d_norm(Registry& registry) {
  registry.add(Conv2dNormOp::kName, prepare_conv2d_norm, Stores::half);
}

}  // namespace linnet::cuda
