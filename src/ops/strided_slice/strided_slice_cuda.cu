// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/slice/axis.h"
#include "ops/strided_slice/strided_slice.h"

namespace linnet::cuda {
namespace {

/// Elements [begin, begin + count step) of rows of `dimension` of `inner` elements.
struct Lines {
  std::int64_t outer = 1;
  std::int64_t dim = 1;
  std::int64_t inner = 1;
  std::int64_t begin = 0;
  std::int64_t step = 1;
  std::int64_t count = 1;
};

__global__ void strided_slice_kernel(const float* x, Lines s, float* y) {
  for (std::int64_t i = first_item(); i < s.outer * s.count * s.inner; i += grid_stride()) {
    const std::int64_t line = i / s.inner;
    const std::int64_t row = line / s.count;
    const std::int64_t k = s.begin + (line - row * s.count) * s.step;
    y[i] = x[(row * s.dim + k) * s.inner + (i - line * s.inner)];
  }
}

__global__ void strided_slice_grad_kernel(const float* dy, Lines s, float* dx) {
  for (std::int64_t i = first_item(); i < s.outer * s.dim * s.inner; i += grid_stride()) {
    const std::int64_t line = i / s.inner;
    const std::int64_t row = line / s.dim;
    const std::int64_t steps = line - row * s.dim - s.begin;
    const std::int64_t k = steps / s.step;
    const bool read = k * s.step == steps && k >= 0 && k < s.count;
    dx[i] = read ? dy[(row * s.count + k) * s.inner + (i - line * s.inner)] : 0.0F;
  }
}

Lines lines_of(const StridedSliceAttrs& a, const Shape& x) {
  const AxisView view = axis_view(x, a.axis);
  return {view.outer, view.dim, view.inner, a.begin, a.step, a.count};
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  const Lines s = lines_of(node.attrs<StridedSliceOp>(), node.in(StridedSliceOp::In::x));
  const std::int64_t elements = node.out(StridedSliceOp::Out::y).elements();
  return Kernel{.enqueue = [=](const Args& args) {
    if (elements == 0) return;
    launch(args.stream, "strided_slice", for_items(elements), strided_slice_kernel,
           args.in(StridedSliceOp::In::x), s, args.out(StridedSliceOp::Out::y));
  }};
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  const Lines s =
      lines_of(node.attrs<StridedSliceGradOp>().slice, node.out(StridedSliceGradOp::Out::dx));
  const std::int64_t elements = node.out(StridedSliceGradOp::Out::dx).elements();
  return Kernel{.enqueue = [=](const Args& args) {
    if (elements == 0) return;
    launch(args.stream, "strided_slice_grad", for_items(elements), strided_slice_grad_kernel,
           args.in(StridedSliceGradOp::In::dy), s, args.out(StridedSliceGradOp::Out::dx));
  }};
}

}  // namespace

void register_strided_slice(Registry& registry) {
  registry.add(StridedSliceOp::kName, prepare_forward);
  registry.add(StridedSliceGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
