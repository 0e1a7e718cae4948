// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/power/power.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_power(const NodeView& node, const Context& /*context*/) {
  return zip("power", node.out(PowerOp::Out::y).elements(),
             [] __device__(float a, float b) { return ::powf(a, b); });
}

}  // namespace

void register_power(Registry& registry) { registry.add(PowerOp::kName, prepare_power); }

}  // namespace linnet::cuda
