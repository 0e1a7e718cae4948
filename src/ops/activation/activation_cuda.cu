// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/activation/formulas.h"

namespace linnet::cuda {
namespace {

template <Activation kKind>
struct Formula {
  __device__ float operator()(float x) const { return activate_f32<kKind>(x); }
  __device__ float operator()(float dy, float saved) const {
    return activation_gradient_f32<kKind>(dy, saved);
  }
};

std::optional<Kernel> prepare_activation(const NodeView& node, const Context& /*context*/) {
  return with_activation(node.attrs<ActivationOp>().kind, [&]<Activation kKind>() {
    return with_one_type(node, [&]<class T>() {
      return map<T>("activation", node.out(kFirst).elements(), Formula<kKind>{});
    });
  });
}

std::optional<Kernel> prepare_activation_grad(const NodeView& node, const Context& /*context*/) {
  return with_activation(node.attrs<ActivationGradOp>().kind, [&]<Activation kKind>() {
    return with_one_type(node, [&]<class T>() {
      return zip<T>("activation_grad", node.out(kFirst).elements(), Formula<kKind>{});
    });
  });
}

}  // namespace

void register_activation(Registry& registry) {
  registry.add(ActivationOp::kName, prepare_activation, Stores::half);
  registry.add(ActivationGradOp::kName, prepare_activation_grad, Stores::half);
}

}  // namespace linnet::cuda
