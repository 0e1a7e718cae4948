// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/arithmetic/broadcast.h"
#include "ops/expand/expand.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_expand(const NodeView& node, const Context& /*context*/) {
  const Shape& wide = node.out(ExpandOp::Out::y);
  const std::int64_t elements = wide.elements();
  const Broadcast s = elements == 0 ? Broadcast{} : *broadcast(wide, node.in(ExpandOp::In::x));
  const auto f = [=] __device__(std::int64_t i, float* y, const float* x) {
    const std::int64_t row = i / s.inner;
    y[i] = x[row / s.repeat % s.own * s.inner + (i - row * s.inner)];
  };
  return each_item<float, float>("expand", elements, f);
}

}  // namespace

void register_expand(Registry& registry) { registry.add(ExpandOp::kName, prepare_expand); }

}  // namespace linnet::cuda
