// SPDX-License-Identifier: Apache-2.0
#include "ops/activation/activation_cpu.h"

#include "backend/cpu/element_wise.h"

namespace linnet::cpu {
namespace {

/// Nanoseconds of one core for an element.
constexpr double forward_cost(Activation kind) {
  return kind == Activation::tanh || kind == Activation::sigmoid || kind == Activation::gelu ? 1.0
                                                                                             : 0.3;
}
constexpr double gradient_cost(Activation kind) { return kind == Activation::gelu ? 1.5 : 0.4; }

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const Activation kind = node.attrs<ActivationOp>().kind;
  return map_blocks(node, forward_cost(kind), [=](const float* x, std::int64_t count, float* y) {
    activation_values(kind, x, count, y);
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const Activation kind = node.attrs<ActivationGradOp>().kind;
  return zip_blocks(node, gradient_cost(kind),
                    [=](const float* dy, const float* saved, std::int64_t count, float* dx) {
                      activation_gradients(kind, dy, saved, count, dx);
                    });
}

}  // namespace

void register_activation(Registry& registry) {
  registry.add(ActivationOp::kName, prepare_forward, Stores::bf16);
  registry.add(ActivationGradOp::kName, prepare_gradient, Stores::bf16);
}

}  // namespace linnet::cpu
