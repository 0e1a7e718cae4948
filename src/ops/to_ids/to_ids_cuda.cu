// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/to_ids/to_ids.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_to_ids(const NodeView& node, const Context& /*context*/) {
  const auto f = [=] __device__(std::int64_t i, std::int32_t * y, const float* x) {
    y[i] = id_of(x[i]);
  };
  return each_item<std::int32_t, float>("to_ids", node.out(kFirst).elements(), f);
}

}  // namespace

void register_to_ids(Registry& registry) { registry.add(ToIdsOp::kName, prepare_to_ids); }

}  // namespace linnet::cuda
