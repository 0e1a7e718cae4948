// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "backend/cuda/element_wise.cuh"
#include "ops/gather_axis/gather_axis.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_gather_axis(const NodeView& node, const Context& /*context*/) {
  using In = GatherAxisOp::In;
  const GatherAxisLayout s(node.attrs<GatherAxisOp>(), node.in(In::x), node.in(In::ids));
  const auto f = [=] __device__(std::int64_t at, float* y, const float* x,
                                const std::int32_t* ids) {
    const std::int64_t line = at / s.inner;
    const std::int64_t i = at - line * s.inner;
    const std::int64_t row = line / s.ids;
    const std::int64_t id = ids[s.id(row, line - row * s.ids, i)];
    y[at] = id >= 0 && id < s.dim ? x[(row * s.dim + id) * s.inner + i]
                                  : std::numeric_limits<float>::quiet_NaN();
  };
  return each_item<float, float, std::int32_t>("gather_axis", s.rows * s.ids * s.inner, f);
}

/// A thread owns a column of x along the axis, and adds to it in the order of the ids.
std::optional<Kernel> prepare_gather_axis_grad(const NodeView& node, const Context& /*context*/) {
  using In = GatherAxisGradOp::In;
  using Out = GatherAxisGradOp::Out;
  const GatherAxisLayout s(node.attrs<GatherAxisGradOp>().gather, node.out(Out::dx),
                           node.in(In::ids));
  const auto f = [=] __device__(std::int64_t column, float* dx, const float* dy,
                                const std::int32_t* ids) {
    const std::int64_t row = column / s.inner;
    const std::int64_t i = column - row * s.inner;
    float* own = dx + row * s.dim * s.inner + i;
    for (std::int64_t k = 0; k < s.dim; ++k) own[k * s.inner] = 0;
    for (std::int64_t j = 0; j < s.ids; ++j) {
      const std::int64_t id = ids[s.id(row, j, i)];
      if (id >= 0 && id < s.dim) own[id * s.inner] += dy[(row * s.ids + j) * s.inner + i];
    }
  };
  return each_item<float, float, std::int32_t>("gather_axis_grad", s.rows * s.inner, f);
}

}  // namespace

void register_gather_axis(Registry& registry) {
  registry.add(GatherAxisOp::kName, prepare_gather_axis);
  registry.add(GatherAxisGradOp::kName, prepare_gather_axis_grad);
}

}  // namespace linnet::cuda
