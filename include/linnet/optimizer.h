// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace linnet {

/// How the learning rate changes with the step, as a factor on its base value.
struct Schedule {
  enum class Kind : std::uint8_t { constant, step, cosine };
  Kind kind = Kind::constant;
  /// Linear warm-up: the factor of step s < warmup_epochs * steps is (s + 1) / (that many steps).
  double warmup_epochs = 0;
  /// step: the factor is multiplied by `gamma` after every `every_epochs`.
  double every_epochs = 1;
  double gamma = 0.1;
  /// cosine: falls to `floor` at the last epoch (Loshchilov and Hutter, "SGDR", 2017, no restarts).
  double floor = 0;
};

/// The update rule; every definition is PyTorch's. One fused pass over the flat parameter arena.
struct Optimizer {
  enum class Kind : std::uint8_t { sgd, adam, adamw, rmsprop };
  Kind kind = Kind::adam;
  double learning_rate = 1e-3;
  /// sgd, rmsprop: 0 for none. With `nesterov` (sgd): the look-ahead form.
  double momentum = 0;
  bool nesterov = false;
  /// adam, adamw (Kingma and Ba, 2015; Loshchilov and Hutter, 2019).
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  /// rmsprop: smoothing of the squared gradient.
  double alpha = 0.99;
  /// Added to the gradient as an L2 penalty; decoupled from it in adamw.
  double weight_decay = 0;
  /// Gradients are scaled down to this L2 norm, taken over all parameters; 0: never.
  double clip_norm = 0;
  Schedule schedule = {};
};

inline Optimizer sgd(double learning_rate, double momentum = 0, bool nesterov = false) {
  return {.kind = Optimizer::Kind::sgd,
          .learning_rate = learning_rate,
          .momentum = momentum,
          .nesterov = nesterov};
}
inline Optimizer adam(double learning_rate = 1e-3) {
  return {.kind = Optimizer::Kind::adam, .learning_rate = learning_rate};
}
inline Optimizer adamw(double learning_rate = 1e-3, double weight_decay = 0.01) {
  return {.kind = Optimizer::Kind::adamw,
          .learning_rate = learning_rate,
          .weight_decay = weight_decay};
}
inline Optimizer rmsprop(double learning_rate = 1e-2) {
  return {.kind = Optimizer::Kind::rmsprop, .learning_rate = learning_rate};
}

}  // namespace linnet
