// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "nn/builder.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/dropout/dropout.h"
#include "ops/softmax/softmax.h"

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
  builder.apply(ActivationOp({Activation::gelu}), builder.layer_name(name, "gelu"));
}

void Softmax::build(NetworkBuilder& builder) const {
  builder.apply(SoftmaxOp(), builder.layer_name(name, "softmax"));
}

void LogSoftmax::build(NetworkBuilder& builder) const {
  builder.apply(LogSoftmaxOp(), builder.layer_name(name, "log_softmax"));
}

}  // namespace linnet
