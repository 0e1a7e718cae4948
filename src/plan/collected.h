// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/collect/collect.h"
#include "plan/passes/match.h"
#include "plan/plan.h"

namespace linnet {

/// Returns whether this operand of a node lies inside the node's result: of a collect, which then
/// has nothing to copy.
inline bool lies_in_result(const Plan& plan, const Node& node, Value operand) {
  if (op_as<CollectOp>(&node) == nullptr) return false;
  const auto place = [&](Value v) { return plan.values[static_cast<std::size_t>(v.id)]; };
  const Placement part = place(operand);
  const Placement whole = place(node.outputs[CollectOp::Out::y]);
  return part.storage == Storage::arena && whole.storage == Storage::arena &&
         part.offset >= whole.offset && part.offset + part.bytes <= whole.offset + whole.bytes;
}

}  // namespace linnet
