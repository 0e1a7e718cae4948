// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/activation/formulas.h"

namespace linnet::cuda {
namespace {

template <class T, Activation kKind>
Kernel forward(std::int64_t elements) {
  return map<T>("activation", elements, [] __device__(float x) { return activate_f32<kKind>(x); });
}

template <class T, Activation kKind>
Kernel gradient(std::int64_t elements) {
  return zip<T>("activation_grad", elements, [] __device__(float dy, float saved) {
    return activation_gradient_f32<kKind>(dy, saved);
  });
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  return with_activation(node.attrs<ActivationOp>().kind, [&]<Activation kKind>() {
    return with_one_type(node,
                         [&]<class T>() { return forward<T, kKind>(node.out(kFirst).elements()); });
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& /*context*/) {
  return with_activation(node.attrs<ActivationGradOp>().kind, [&]<Activation kKind>() {
    return with_one_type(node, [&]<class T>() {
      return gradient<T, kKind>(node.out(kFirst).elements());
    });
  });
}

}  // namespace

void register_activation(Registry& registry) {
  registry.add(ActivationOp::kName, prepare_forward, Stores::half);
  registry.add(ActivationGradOp::kName, prepare_gradient, Stores::half);
}

}  // namespace linnet::cuda
