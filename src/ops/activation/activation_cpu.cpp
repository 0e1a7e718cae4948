// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/element_wise.h"
#include "ops/activation/formulas.h"

namespace linnet::cpu {
namespace {

/// Nanoseconds of one core for an element.
constexpr double forward_cost(Activation kind) {
  switch (kind) {
    case Activation::tanh:
    case Activation::sigmoid: return 10;
    case Activation::gelu: return 15;
    default: return 0.3;
  }
}
constexpr double gradient_cost(Activation kind) { return kind == Activation::gelu ? 20 : 0.4; }

std::optional<Kernel> prepare_forward(const NodeView& node) {
  return with_activation(node.attrs<ActivationOp>().kind, [&]<Activation kKind>() {
    return map(node.out(0).elements(), forward_cost(kKind),
               [](float x) { return activate_f32<kKind>(x); });
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  return with_activation(node.attrs<ActivationGradOp>().kind, [&]<Activation kKind>() {
    return zip(node.out(0).elements(), gradient_cost(kKind),
               [](float dy, float saved) { return activation_gradient_f32<kKind>(dy, saved); });
  });
}

}  // namespace

void register_activation(Registry& registry) {
  registry.add(ActivationOp::kName, prepare_forward);
  registry.add(ActivationGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
