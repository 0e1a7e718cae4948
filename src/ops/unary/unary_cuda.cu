// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/unary/formulas.h"

namespace linnet::cuda {
namespace {

struct Math {
  __device__ static float exp_nonpositive(float x) { return ::expf(x); }
};

template <Unary kKind>
UnaryFormula<kKind, Math> formula_of(const UnaryAttrs& attrs) {
  return {static_cast<float>(attrs.alpha), static_cast<float>(attrs.beta)};
}

template <Unary kKind>
Kernel forward(const NodeView& node) {
  const auto formula = formula_of<kKind>(node.attrs<UnaryOp>());
  return map("unary", node.out(kFirst).elements(), [=] __device__(float x) { return formula(x); });
}

template <Unary kKind>
Kernel gradient(const NodeView& node) {
  const auto formula = formula_of<kKind>(node.attrs<UnaryGradOp>());
  return zip("unary_grad", node.out(kFirst).elements(),
             [=] __device__(float dy, float saved) { return formula(dy, saved); });
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  return with_unary(node.attrs<UnaryOp>().kind,
                    [&]<Unary kKind>() { return forward<kKind>(node); });
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  return with_unary(node.attrs<UnaryGradOp>().kind,
                    [&]<Unary kKind>() { return gradient<kKind>(node); });
}

}  // namespace

void register_unary(Registry& registry) {
  registry.add(UnaryOp::kName, prepare_forward);
  registry.add(UnaryGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cuda
