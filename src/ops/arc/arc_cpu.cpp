// SPDX-License-Identifier: Apache-2.0
#include "ops/arc/arc.h"

#include <cmath>

#include "backend/cpu/element_wise.h"

namespace linnet::cpu {
namespace {

using ArcFunction = float (*)(float);

ArcFunction function_of(Arc kind) {
  switch (kind) {
    case Arc::asin: return [](float x) { return std::asin(x); };
    case Arc::acos: return [](float x) { return std::acos(x); };
    case Arc::atan: return [](float x) { return std::atan(x); };
    case Arc::asinh: return [](float x) { return std::asinh(x); };
    case Arc::acosh: return [](float x) { return std::acosh(x); };
    case Arc::atanh: break;
  }
  return [](float x) { return std::atanh(x); };
}

std::optional<Kernel> prepare_arc(const NodeView& node) {
  const ArcFunction f = function_of(node.attrs<ArcOp>().kind);
  return map(node, 20, [=](float x) { return f(x); });
}

}  // namespace

void register_arc(Registry& registry) { registry.add(ArcOp::kName, prepare_arc); }

}  // namespace linnet::cpu
