// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/arithmetic/broadcast.h"
#include "ops/expand/expand.h"

namespace linnet::cuda {
namespace {

__global__ void expand_kernel(const float* x, Broadcast s, std::int64_t elements, float* y) {
  for (std::int64_t i = first_item(); i < elements; i += grid_stride()) {
    const std::int64_t row = i / s.inner;
    y[i] = x[row / s.repeat % s.own * s.inner + (i - row * s.inner)];
  }
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  const std::int64_t elements = node.out(ExpandOp::Out::y).elements();
  const Broadcast s = elements == 0
                          ? Broadcast{}
                          : *broadcast(node.out(ExpandOp::Out::y), node.in(ExpandOp::In::x));
  return Kernel{.enqueue = [=](const Args& args) {
    if (elements == 0) return;
    launch(args.stream, "expand", for_items(elements), expand_kernel, args.in(ExpandOp::In::x), s,
           elements, args.out(ExpandOp::Out::y));
  }};
}

}  // namespace

void register_expand(Registry& registry) { registry.add(ExpandOp::kName, prepare); }

}  // namespace linnet::cuda
