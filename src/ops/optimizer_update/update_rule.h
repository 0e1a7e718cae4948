// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/host_device.h"
#include "ops/optimizer_update/optimizer_update.h"

// The optimizers' arithmetic, which the host shares with CUDA kernels.
namespace linnet {

/// base^n for a whole n >= 0, as the CPU computes it.
struct LibraryPower {
  LINNET_HOST_DEVICE double operator()(double base, double n) const { return std::pow(base, n); }
};

/// The same by squaring, with a relative error of n * 2^-53 at most. In a kernel, pow() in double
/// precision would take longer than a small network's whole update.
struct SquaringPower {
  LINNET_HOST_DEVICE double operator()(double base, double n) const {
    double power = 1;
    for (auto bits = static_cast<std::uint64_t>(n); bits > 0; bits >>= 1) {
      if ((bits & 1) != 0) power *= base;
      base *= base;
    }
    return power;
  }
};

template <class Power>
LINNET_HOST_DEVICE inline double learning_rate_at(const OptimizerAttrs& attrs, std::uint64_t step,
                                                  Power power) {
  const auto s = static_cast<double>(step);
  const auto warmup = static_cast<double>(attrs.warmup_steps);
  if (s < warmup) return attrs.learning_rate * (s + 1) / warmup;
  switch (attrs.schedule) {
    case Schedule::Kind::constant: return attrs.learning_rate;
    case Schedule::Kind::step:
      return attrs.learning_rate *
             power(attrs.gamma, std::floor(s / static_cast<double>(attrs.every_steps)));
    case Schedule::Kind::cosine: {
      const double span = std::max(static_cast<double>(attrs.total_steps) - warmup, 1.0);
      const double progress = std::min((s - warmup) / span, 1.0);
      const double factor = 0.5 * (1 + std::cos(std::numbers::pi * progress));
      return attrs.learning_rate * (attrs.floor + (1 - attrs.floor) * factor);
    }
  }
  return attrs.learning_rate;
}

template <class Power>
LINNET_HOST_DEVICE inline UpdateFactors update_factors(const OptimizerAttrs& attrs,
                                                       const StepInfo& step, double norm,
                                                       Power power) {
  const double rate = learning_rate_at(attrs, step.update, power) * step.rate_factor;
  UpdateFactors f{.rate = static_cast<float>(rate),
                  .decay = 1,
                  .penalty = static_cast<float>(attrs.weight_decay),
                  .first_keep = static_cast<float>(attrs.momentum),
                  .first_add = 1,
                  .second_keep = 0,
                  .second_add = 0,
                  .second_scale = 1,
                  .epsilon = static_cast<float>(attrs.epsilon),
                  .clip = 1};
  if (attrs.clip_norm > 0 && norm > attrs.clip_norm) {
    f.clip = static_cast<float>(attrs.clip_norm / norm);
  }
  if (attrs.kind == Optimizer::Kind::rmsprop) {
    f.second_keep = static_cast<float>(attrs.alpha);
    f.second_add = static_cast<float>(1 - attrs.alpha);
  }
  if (attrs.kind == Optimizer::Kind::adam || attrs.kind == Optimizer::Kind::adamw) {
    const auto t = static_cast<double>(step.update + 1);
    f.rate = static_cast<float>(rate / (1 - power(attrs.beta1, t)));
    f.first_keep = static_cast<float>(attrs.beta1);
    f.first_add = static_cast<float>(1 - attrs.beta1);
    f.second_keep = static_cast<float>(attrs.beta2);
    f.second_add = static_cast<float>(1 - attrs.beta2);
    f.second_scale = static_cast<float>(1 / std::sqrt(1 - power(attrs.beta2, t)));
  }
  if (attrs.kind == Optimizer::Kind::adamw) {
    f.decay = static_cast<float>(1 - rate * attrs.weight_decay);
    f.penalty = 0;
  }
  return f;
}

/// What one element goes through.
enum class UpdateRule : std::uint8_t {
  sgd,
  momentum,
  nesterov,
  adam,  ///< and adamw
  rmsprop,
  rmsprop_momentum,
};

constexpr UpdateRule rule_of(const OptimizerAttrs& attrs) {
  switch (attrs.kind) {
    case Optimizer::Kind::sgd:
      if (attrs.momentum == 0) return UpdateRule::sgd;
      return attrs.nesterov ? UpdateRule::nesterov : UpdateRule::momentum;
    case Optimizer::Kind::adam:
    case Optimizer::Kind::adamw: break;
    case Optimizer::Kind::rmsprop:
      return attrs.momentum == 0 ? UpdateRule::rmsprop : UpdateRule::rmsprop_momentum;
  }
  return UpdateRule::adam;
}

/// How many moments the rule keeps.
constexpr int moments(UpdateRule rule) {
  switch (rule) {
    case UpdateRule::sgd: return 0;
    case UpdateRule::momentum:
    case UpdateRule::nesterov:
    case UpdateRule::rmsprop: return 1;
    case UpdateRule::adam:
    case UpdateRule::rmsprop_momentum: break;
  }
  return 2;
}

/// Updates a parameter p by its gradient g; moments that the rule does not keep are left alone.
/// T: float or double.
template <class T>
LINNET_HOST_DEVICE inline void update_element(UpdateRule rule, const UpdateFactors& f, T& p, T g,
                                              T& first, T& second) {
  g = g * f.clip + f.penalty * p;
  switch (rule) {
    case UpdateRule::sgd: p -= f.rate * g; break;
    case UpdateRule::momentum:
      first = f.first_keep * first + g;
      p -= f.rate * first;
      break;
    case UpdateRule::nesterov:
      first = f.first_keep * first + g;
      p -= f.rate * (g + f.first_keep * first);
      break;
    case UpdateRule::adam:
      first = f.first_keep * first + f.first_add * g;
      second = f.second_keep * second + f.second_add * (g * g);
      p = p * f.decay - f.rate * first / (std::sqrt(second) * f.second_scale + f.epsilon);
      break;
    case UpdateRule::rmsprop:
      first = f.second_keep * first + f.second_add * (g * g);
      p -= f.rate * (g / (std::sqrt(first) + f.epsilon));
      break;
    case UpdateRule::rmsprop_momentum:
      first = f.second_keep * first + f.second_add * (g * g);
      second = f.first_keep * second + g / (std::sqrt(first) + f.epsilon);
      p -= f.rate * second;
      break;
  }
}

}  // namespace linnet
