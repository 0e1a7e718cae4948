// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/arc/arc.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_arc(const NodeView& node, const Context& /*context*/) {
  const Arc kind = node.attrs<ArcOp>().kind;
  return map("arc", node.out(ArcOp::Out::y).elements(), [=] __device__(float x) {
    switch (kind) {
      case Arc::asin: return ::asinf(x);
      case Arc::acos: return ::acosf(x);
      case Arc::atan: return ::atanf(x);
      case Arc::asinh: return ::asinhf(x);
      case Arc::acosh: return ::acoshf(x);
      case Arc::atanh: return ::atanhf(x);
    }
    return x;
  });
}

}  // namespace

void register_arc(Registry& registry) { registry.add(ArcOp::kName, prepare_arc); }

}  // namespace linnet::cuda
