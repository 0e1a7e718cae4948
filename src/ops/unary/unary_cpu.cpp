// SPDX-License-Identifier: Apache-2.0
#include "ops/unary/unary_cpu.h"

#include "backend/cpu/element_wise.h"

namespace linnet::cpu {
namespace {

/// Nanoseconds of one core for an element.
constexpr double cost(Unary kind) {
  switch (kind) {
    case Unary::pow: return 20;
    case Unary::sin:
    case Unary::cos: return 12;
    case Unary::softplus: return 2;
    case Unary::exp:
    case Unary::log:
    case Unary::log1p:
    case Unary::expm1:
    case Unary::erf:
    case Unary::elu:
    case Unary::selu:
    case Unary::silu:
    case Unary::gelu_tanh: return 1;
    default: return 0.4;
  }
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const UnaryAttrs attrs = node.attrs<UnaryOp>();
  return map_blocks(node, cost(attrs.kind), [=](const float* x, std::int64_t count, float* y) {
    unary_values(attrs, x, count, y);
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const UnaryAttrs attrs = node.attrs<UnaryGradOp>();
  return zip_blocks(node, cost(attrs.kind),
                    [=](const float* dy, const float* saved, std::int64_t count, float* dx) {
                      unary_gradients(attrs, dy, saved, count, dx);
                    });
}

}  // namespace

void register_unary(Registry& registry) {
  registry.add(UnaryOp::kName, prepare_forward);
  registry.add(UnaryGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
