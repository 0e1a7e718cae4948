// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/plan.h"

namespace linnet {

/// Returns whether this operand of a node lies inside the node's result (Op::places_in_result), so
/// that the node has nothing to copy.
inline bool lies_in_result(const Plan& plan, const Node& node, Value operand) {
  if (node.op->places_in_result().empty()) return false;
  const auto place = [&](Value v) { return plan.values[static_cast<std::size_t>(v.id)]; };
  const Placement part = place(operand);
  const Placement whole = place(node.outputs.front());
  return part.storage == Storage::arena && whole.storage == Storage::arena &&
         part.offset >= whole.offset && part.offset + part.bytes <= whole.offset + whole.bytes;
}

}  // namespace linnet
