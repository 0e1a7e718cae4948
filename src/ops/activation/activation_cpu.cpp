// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "backend/cpu/element_wise.h"
#include "ops/activation/activation.h"

namespace linnet::cpu {
namespace {

constexpr float kInvSqrt2 = 0.70710678F;
constexpr float kInvSqrt2Pi = 0.39894228F;

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const std::int64_t n = node.out(0).elements();
  switch (node.attrs<ActivationOp>().kind) {
    case Activation::none: return map(n, 0.3, [](float x) { return x; });
    case Activation::relu: return map(n, 0.3, [](float x) { return x < 0 ? 0.0F : x; });
    case Activation::tanh: return map(n, 10, [](float x) { return std::tanh(x); });
    case Activation::sigmoid: return map(n, 10, [](float x) { return 1 / (1 + std::exp(-x)); });
    case Activation::gelu:
      return map(n, 15, [](float x) { return 0.5F * x * (1 + std::erf(x * kInvSqrt2)); });
  }
  return std::nullopt;
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const std::int64_t n = node.out(0).elements();
  switch (node.attrs<ActivationGradOp>().kind) {
    case Activation::none: return zip(n, 0.4, [](float dy, float) { return dy; });
    case Activation::relu: return zip(n, 0.4, [](float dy, float y) { return y > 0 ? dy : 0.0F; });
    case Activation::tanh: return zip(n, 0.4, [](float dy, float y) { return dy * (1 - y * y); });
    case Activation::sigmoid:
      return zip(n, 0.4, [](float dy, float y) { return dy * y * (1 - y); });
    case Activation::gelu:
      return zip(n, 20, [](float dy, float x) {
        const float density = kInvSqrt2Pi * std::exp(-0.5F * x * x);
        return dy * (0.5F * (1 + std::erf(x * kInvSqrt2)) + x * density);
      });
  }
  return std::nullopt;
}

}  // namespace

void register_activation(Registry& registry) {
  registry.add(ActivationOp::kName, prepare_forward);
  registry.add(ActivationGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
