// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/element_wise.h"
#include "ops/activation/formulas_cpu.h"

namespace linnet::cpu {
namespace {

/// Nanoseconds of one core for an element.
constexpr double forward_cost(Activation kind) {
  return kind == Activation::tanh || kind == Activation::sigmoid || kind == Activation::gelu ? 2.0
                                                                                             : 0.3;
}
constexpr double gradient_cost(Activation kind) { return kind == Activation::gelu ? 2.5 : 0.4; }

std::optional<Kernel> prepare_forward(const NodeView& node) {
  return with_activation(node.attrs<ActivationOp>().kind, [&]<Activation kKind>() {
    return map(node, forward_cost(kKind), [](float x) { return activate<kKind>(x); });
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  return with_activation(node.attrs<ActivationGradOp>().kind, [&]<Activation kKind>() {
    return zip(node, gradient_cost(kKind),
               [](float dy, float saved) { return activation_gradient<kKind>(dy, saved); });
  });
}

}  // namespace

void register_activation(Registry& registry) {
  registry.add(ActivationOp::kName, prepare_forward, Stores::bf16);
  registry.add(ActivationGradOp::kName, prepare_gradient, Stores::bf16);
}

}  // namespace linnet::cpu
