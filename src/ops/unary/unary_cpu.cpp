// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/element_wise.h"
#include "backend/cpu/exponential.h"
#include "ops/unary/formulas.h"

namespace linnet::cpu {
namespace {

struct Math {
  static float exp_nonpositive(float x) { return cpu::exp_nonpositive(x); }
};

/// Nanoseconds of one core for an element.
constexpr double cost(Unary kind) {
  switch (kind) {
    case Unary::pow: return 20;
    case Unary::sin:
    case Unary::cos:
    case Unary::softplus: return 12;
    case Unary::exp:
    case Unary::log:
    case Unary::log1p:
    case Unary::expm1:
    case Unary::erf:
    case Unary::elu:
    case Unary::selu: return 6;
    case Unary::silu:
    case Unary::gelu_tanh: return 2;
    default: return 0.5;
  }
}

template <Unary kKind>
UnaryFormula<kKind, Math> formula(const UnaryAttrs& attrs) {
  return {static_cast<float>(attrs.alpha), static_cast<float>(attrs.beta)};
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const UnaryAttrs& attrs = node.attrs<UnaryOp>();
  return with_unary(attrs.kind,
                    [&]<Unary kKind>() { return map(node, cost(kKind), formula<kKind>(attrs)); });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const UnaryAttrs& attrs = node.attrs<UnaryGradOp>();
  return with_unary(attrs.kind,
                    [&]<Unary kKind>() { return zip(node, cost(kKind), formula<kKind>(attrs)); });
}

}  // namespace

void register_unary(Registry& registry) {
  registry.add(UnaryOp::kName, prepare_forward);
  registry.add(UnaryGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
