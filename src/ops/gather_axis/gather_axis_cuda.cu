// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/gather_axis/gather_axis.h"

namespace linnet::cuda {
namespace {

__global__ void gather_axis_kernel(const float* x, const std::int32_t* ids, GatherAxisLayout s,
                                   float* y) {
  for (std::int64_t at = first_item(); at < s.rows * s.ids * s.inner; at += grid_stride()) {
    const std::int64_t line = at / s.inner;
    const std::int64_t i = at - line * s.inner;
    const std::int64_t row = line / s.ids;
    const std::int64_t id = ids[s.id(row, line - row * s.ids, i)];
    y[at] = id >= 0 && id < s.dim ? x[(row * s.dim + id) * s.inner + i]
                                  : std::numeric_limits<float>::quiet_NaN();
  }
}

/// A thread owns a column of x along the axis, and adds to it in the order of the ids.
__global__ void gather_axis_grad_kernel(const float* dy, const std::int32_t* ids,
                                        GatherAxisLayout s, float* dx) {
  for (std::int64_t column = first_item(); column < s.rows * s.inner; column += grid_stride()) {
    const std::int64_t row = column / s.inner;
    const std::int64_t i = column - row * s.inner;
    float* own = dx + row * s.dim * s.inner + i;
    for (std::int64_t k = 0; k < s.dim; ++k) own[k * s.inner] = 0;
    for (std::int64_t j = 0; j < s.ids; ++j) {
      const std::int64_t id = ids[s.id(row, j, i)];
      if (id >= 0 && id < s.dim) own[id * s.inner] += dy[(row * s.ids + j) * s.inner + i];
    }
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  const GatherAxisLayout s(node.attrs<GatherAxisOp>(), node.in(GatherAxisOp::In::x),
                           node.in(GatherAxisOp::In::ids));
  return Kernel{.enqueue = [=](const Args& args) {
    const std::int64_t elements = s.rows * s.ids * s.inner;
    if (elements == 0) return;
    launch(args.stream, "gather_axis", for_items(elements), gather_axis_kernel,
           args.in(GatherAxisOp::In::x), args.in<std::int32_t>(GatherAxisOp::In::ids), s,
           args.out(GatherAxisOp::Out::y));
  }};
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  const GatherAxisLayout s(node.attrs<GatherAxisGradOp>().gather,
                           node.out(GatherAxisGradOp::Out::dx), node.in(GatherAxisGradOp::In::ids));
  return Kernel{.enqueue = [=](const Args& args) {
    const std::int64_t columns = s.rows * s.inner;
    if (columns == 0) return;
    launch(args.stream, "gather_axis_grad", for_items(columns), gather_axis_grad_kernel,
           args.in(GatherAxisGradOp::In::dy), args.in<std::int32_t>(GatherAxisGradOp::In::ids), s,
           args.out(GatherAxisGradOp::Out::dx));
  }};
}

}  // namespace

void register_gather_axis(Registry& registry) {
  registry.add(GatherAxisOp::kName, prepare_forward);
  registry.add(GatherAxisGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
