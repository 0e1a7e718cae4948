// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/slice/axis.h"
#include "ops/strided_slice/strided_slice.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_strided_slice(const NodeView& node, const Context& /*context*/) {
  const StridedSliceAttrs a = node.attrs<StridedSliceOp>();
  const AxisView s = axis_view(node.in(StridedSliceOp::In::x), a.axis);
  const auto f = [=] __device__(std::int64_t i, float* y, const float* x) {
    const std::int64_t line = i / s.inner;
    const std::int64_t row = line / a.count;
    const std::int64_t k = a.begin + (line - row * a.count) * a.step;
    y[i] = x[(row * s.dim + k) * s.inner + (i - line * s.inner)];
  };
  return each_item<float, float>("strided_slice", s.outer * a.count * s.inner, f);
}

std::optional<Kernel> prepare_strided_slice_grad(const NodeView& node, const Context& /*context*/) {
  const StridedSliceAttrs a = node.attrs<StridedSliceGradOp>().slice;
  const AxisView s = axis_view(node.out(StridedSliceGradOp::Out::dx), a.axis);
  const auto f = [=] __device__(std::int64_t i, float* dx, const float* dy) {
    const std::int64_t line = i / s.inner;
    const std::int64_t row = line / s.dim;
    const std::int64_t steps = line - row * s.dim - a.begin;
    const std::int64_t k = steps / a.step;
    const bool read = k * a.step == steps && k >= 0 && k < a.count;
    dx[i] = read ? dy[(row * a.count + k) * s.inner + (i - line * s.inner)] : 0.0F;
  };
  return each_item<float, float>("strided_slice_grad", s.outer * s.dim * s.inner, f);
}

}  // namespace

void register_strided_slice(Registry& registry) {
  registry.add(StridedSliceOp::kName, prepare_strided_slice);
  registry.add(StridedSliceGradOp::kName, prepare_strided_slice_grad);
}

}  // namespace linnet::cuda
