// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "nn/builder.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/dropout/dropout.h"
#include "ops/softmax/softmax.h"
#include "ops/unary/unary.h"

namespace linnet {

void Rescale::build(NetworkBuilder& builder) const {
  builder.apply(ScaleOp({.alpha = scale, .beta = shift}), builder.layer_name(name, "rescale"));
}

void Dropout::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "dropout");
  // The place in the network tells its dropouts apart, so equal networks draw equal masks.
  const auto stream = static_cast<std::int64_t>(builder.graph().nodes().size());
  builder.apply(DropoutOp({.rate = rate, .stream = stream}), layer);
}

void ReLU::build(NetworkBuilder& builder) const {
  builder.apply(ActivationOp({Activation::relu}), builder.layer_name(name, "relu"));
}

void Tanh::build(NetworkBuilder& builder) const {
  builder.apply(ActivationOp({Activation::tanh}), builder.layer_name(name, "tanh"));
}

void Sigmoid::build(NetworkBuilder& builder) const {
  builder.apply(ActivationOp({Activation::sigmoid}), builder.layer_name(name, "sigmoid"));
}

void GELU::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "gelu");
  if (tanh_form) {
    builder.apply(UnaryOp({Unary::gelu_tanh}), layer);
  } else {
    builder.apply(ActivationOp({Activation::gelu}), layer);
  }
}

void LeakyReLU::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::leaky_relu, slope}), builder.layer_name(name, "leaky_relu"));
}

void ELU::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::elu, alpha}), builder.layer_name(name, "elu"));
}

void SELU::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::selu}), builder.layer_name(name, "selu"));
}

void SiLU::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::silu}), builder.layer_name(name, "silu"));
}

void Softplus::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "softplus");
  require(beta > 0, "[softplus '{}'] expected a beta above 0; got {}", layer, beta);
  builder.apply(UnaryOp({Unary::softplus, beta}), layer);
}

void HardSigmoid::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::hard_sigmoid}), builder.layer_name(name, "hard_sigmoid"));
}

void HardSwish::build(NetworkBuilder& builder) const {
  builder.apply(UnaryOp({Unary::hard_swish}), builder.layer_name(name, "hard_swish"));
}

void HardTanh::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "hard_tanh");
  require(low <= high,
          "[hard_tanh '{}'] expected a low bound not above the high one; got {} and {}", layer, low,
          high);
  builder.apply(UnaryOp({Unary::clip, low, high}), layer);
}

void Softmax::build(NetworkBuilder& builder) const {
  builder.apply(SoftmaxOp(), builder.layer_name(name, "softmax"));
}

void LogSoftmax::build(NetworkBuilder& builder) const {
  builder.apply(LogSoftmaxOp(), builder.layer_name(name, "log_softmax"));
}

}  // namespace linnet
