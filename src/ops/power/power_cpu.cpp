// SPDX-License-Identifier: Apache-2.0
#include "ops/power/power.h"

#include <cmath>

#include "backend/cpu/element_wise.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_power(const NodeView& node) {
  return zip(node, 20, [](float a, float b) { return std::pow(a, b); });
}

}  // namespace

void register_power(Registry& registry) { registry.add(PowerOp::kName, prepare_power); }

}  // namespace linnet::cpu
