// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/activations.h>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/unary/unary.h"

namespace linnet {

void ReLU::build(NetworkBuilder& builder) const {
  builder.apply(ActivationOp({Activation::relu}), builder.begin(*this));
}

void Tanh::build(NetworkBuilder& builder) const {
  builder.apply(ActivationOp({Activation::tanh}), builder.begin(*this));
}

void Sigmoid::build(NetworkBuilder& builder) const {
  builder.apply(ActivationOp({Activation::sigmoid}), builder.begin(*this));
}

void GELU::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  if (tanh_form) {
    builder.apply(UnaryOp({Unary::gelu_tanh}), layer);
  } else {
    builder.apply(ActivationOp({Activation::gelu}), layer);
  }
}

void LeakyReLU::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::leaky_relu, slope}), builder.begin(*this));
}

void ELU::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::elu, alpha}), builder.begin(*this));
}

void SELU::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::selu}), builder.begin(*this));
}

void SiLU::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::silu}), builder.begin(*this));
}

void Mish::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Value x = builder.current();
  builder.apply(UnaryOp({Unary::softplus, 1}), layer);
  builder.apply(ActivationOp({Activation::tanh}), layer);
  builder.set_current(
      builder.graph().emit(ArithmeticOp({Arithmetic::multiply}), {x, builder.current()}, layer));
}

void Softplus::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::softplus, beta}), builder.begin(*this));
}

void HardSigmoid::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::hard_sigmoid}), builder.begin(*this));
}

void HardSwish::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::hard_swish}), builder.begin(*this));
}

void HardTanh::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  require(low <= high,
          "[hard_tanh '{}'] expected a low bound not above the high one; got {} and {}", layer, low,
          high);
  builder.apply(UnaryOp({Unary::clip, low, high}), layer);
}

namespace {

/// An activation without a field but its name.
template <class L>
void add_plain(LayerTypes& types, std::string_view kind, std::string_view name) {
  types.add({.kind = kind, .name = name, .in = "(N, ...)", .out = "(N, ...)", .fields = {}}, L{});
}

}  // namespace

void register_activations(LayerTypes& types) {
  add_plain<ReLU>(types, "relu", "ReLU");
  add_plain<Tanh>(types, "tanh", "Tanh");
  add_plain<Sigmoid>(types, "sigmoid", "Sigmoid");
  types.add({.kind = "gelu",
             .name = "GELU",
             .in = "(N, ...)",
             .out = "(N, ...)",
             .fields = {field<&GELU::tanh_form>("tanh_form")}},
            GELU{.tanh_form = true});
  types.add({.kind = "leaky_relu",
             .name = "LeakyReLU",
             .in = "(N, ...)",
             .out = "(N, ...)",
             .fields = {field<&LeakyReLU::slope>("slope")}},
            LeakyReLU{.slope = 0.2});
  types.add({.kind = "elu",
             .name = "ELU",
             .in = "(N, ...)",
             .out = "(N, ...)",
             .fields = {field<&ELU::alpha>("alpha")}},
            ELU{.alpha = 0.5});
  add_plain<SELU>(types, "selu", "SELU");
  add_plain<SiLU>(types, "silu", "SiLU");
  add_plain<Mish>(types, "mish", "Mish");
  types.add({.kind = "softplus",
             .name = "Softplus",
             .in = "(N, ...)",
             .out = "(N, ...)",
             .fields = {field<&Softplus::beta>("beta").above(0)}},
            Softplus{.beta = 2});
  add_plain<HardSigmoid>(types, "hard_sigmoid", "HardSigmoid");
  add_plain<HardSwish>(types, "hard_swish", "HardSwish");
  types.add({.kind = "hard_tanh",
             .name = "HardTanh",
             .in = "(N, ...)",
             .out = "(N, ...)",
             .fields = {field<&HardTanh::low>("low"), field<&HardTanh::high>("high")}},
            HardTanh{.low = 0, .high = 6});
}

}  // namespace linnet
