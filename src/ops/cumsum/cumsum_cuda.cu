// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/cumsum/cumsum.h"
#include "ops/slice/axis.h"

namespace linnet::cuda {
namespace {

/// A thread adds up a column along the axis.
std::optional<Kernel> prepare_cumsum(const NodeView& node, const Context& /*context*/) {
  const bool reverse = node.attrs<CumsumOp>().reverse;
  const AxisView s = axis_view(node.in(CumsumOp::In::x), node.attrs<CumsumOp>().axis);
  const auto f = [=] __device__(std::int64_t column, float* y, const float* x) {
    const std::int64_t first = column / s.inner * s.dim * s.inner + column % s.inner;
    float sum = 0;
    for (std::int64_t step = 0; step < s.dim; ++step) {
      const std::int64_t at = first + (reverse ? s.dim - 1 - step : step) * s.inner;
      sum += x[at];
      y[at] = sum;
    }
  };
  return each_item<float, float>("cumsum", s.outer * s.inner, f);
}

}  // namespace

void register_cumsum(Registry& registry) { registry.add(CumsumOp::kName, prepare_cumsum); }

}  // namespace linnet::cuda
