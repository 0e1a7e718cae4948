// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/unary/formulas.h"

namespace linnet::cuda {
namespace {

template <Unary kKind>
UnaryFormula<kKind> formula_of(const UnaryAttrs& attrs) {
  return {static_cast<float>(attrs.alpha), static_cast<float>(attrs.beta)};
}

std::optional<Kernel> prepare_unary(const NodeView& node, const Context& /*context*/) {
  const UnaryAttrs& attrs = node.attrs<UnaryOp>();
  return with_unary(attrs.kind, [&]<Unary kKind>() {
    return map("unary", node.out(kFirst).elements(), formula_of<kKind>(attrs));
  });
}

std::optional<Kernel> prepare_unary_grad(const NodeView& node, const Context& /*context*/) {
  const UnaryAttrs& attrs = node.attrs<UnaryGradOp>();
  return with_unary(attrs.kind, [&]<Unary kKind>() {
    return zip("unary_grad", node.out(kFirst).elements(), formula_of<kKind>(attrs));
  });
}

}  // namespace

void register_unary(Registry& registry) {
  registry.add(UnaryOp::kName, prepare_unary);
  registry.add(UnaryGradOp::kName, prepare_unary_grad);
}

}  // namespace linnet::cuda
