// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/cumsum/cumsum.h"
#include "ops/slice/axis.h"

namespace linnet::cuda {
namespace {

/// A thread adds up a column along the axis.
__global__ void cumsum_kernel(const float* x, AxisView s, bool reverse, float* y) {
  for (std::int64_t column = first_item(); column < s.outer * s.inner; column += grid_stride()) {
    const std::int64_t first = column / s.inner * s.dim * s.inner + column % s.inner;
    float sum = 0;
    for (std::int64_t step = 0; step < s.dim; ++step) {
      const std::int64_t at = first + (reverse ? s.dim - 1 - step : step) * s.inner;
      sum += x[at];
      y[at] = sum;
    }
  }
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  const bool reverse = node.attrs<CumsumOp>().reverse;
  const AxisView s = axis_view(node.in(CumsumOp::In::x), node.attrs<CumsumOp>().axis);
  return Kernel{.enqueue = [=](const Args& args) {
    if (s.outer * s.inner == 0) return;
    launch(args.stream, "cumsum", for_items(s.outer * s.inner), cumsum_kernel,
           args.in(CumsumOp::In::x), s, reverse, args.out(CumsumOp::Out::y));
  }};
}

}  // namespace

void register_cumsum(Registry& registry) { registry.add(CumsumOp::kName, prepare); }

}  // namespace linnet::cuda
