// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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

/// From `begin` to `end` along half a cosine, at t in [0, 1].
LINNET_HOST_DEVICE inline double along_cosine(double begin, double end, double t) {
  return end + (begin - end) * (0.5 * (1 + std::cos(std::numbers::pi * t)));
}

/// Returns the factor at a step of the training.
LINNET_HOST_DEVICE inline double factor_at(const Knots& knots, double step) {
  std::int64_t next = 0;  // the first knot after the step
  while (next < knots.count && knots.steps[next] <= step) ++next;
  if (next == 0) return knots.factors[0];
  const double before = knots.factors[next - 1];
  if (next == knots.count) return before;
  const double begin = knots.steps[next - 1];
  return before + (knots.factors[next] - before) * ((step - begin) / (knots.steps[next] - begin));
}

/// Returns the factor on the learning rate after the warm-up. `s`: updates done since.
template <class Power>
LINNET_HOST_DEVICE inline double decay_at(const UpdateSettings& settings, double s, Power power) {
  const auto length = static_cast<double>(settings.total_steps - settings.warmup_steps);
  const double t = std::min(s / std::max(length, 1.0), 1.0);
  switch (settings.decay) {
    case Decay::constant: break;
    case Decay::step:
      return power(settings.gamma, std::floor((s + static_cast<double>(settings.warmup_steps)) /
                                              static_cast<double>(settings.every_steps)));
    case Decay::cosine: return along_cosine(1, settings.floor, t);
    case Decay::linear: return 1 - (1 - settings.floor) * t;
    case Decay::polynomial:
      return settings.floor + (1 - settings.floor) * std::pow(1 - t, settings.power);
    case Decay::one_cycle: {
      const double peak = settings.rise_steps;
      if (peak > 0 && s <= peak) return along_cosine(settings.start, 1, s / peak);
      const double fall = length - 1 - peak;
      return along_cosine(1, settings.floor, fall > 0 ? std::min((s - peak) / fall, 1.0) : 1.0);
    }
    case Decay::piecewise:
      return factor_at(settings.knots, s + static_cast<double>(settings.warmup_steps));
  }
  return 1;
}

template <class Power>
LINNET_HOST_DEVICE inline double learning_rate_at(const UpdateSettings& settings,
                                                  std::uint64_t update, Power power) {
  const auto s = static_cast<double>(update);
  const auto warmup = static_cast<double>(settings.warmup_steps);
  if (s < warmup) {
    double top = 1;
    if (settings.decay == Decay::one_cycle && settings.rise_steps > 0) top = settings.start;
    if (settings.decay == Decay::piecewise) top = factor_at(settings.knots, warmup);
    return settings.learning_rate * top * (s + 1) / warmup;
  }
  return settings.learning_rate * decay_at(settings, s - warmup, power);
}

/// Returns whether weight decay shrinks the parameter itself instead of joining the gradient.
LINNET_HOST_DEVICE constexpr bool decays_apart(UpdateRule rule) {
  return rule == UpdateRule::adamw || rule == UpdateRule::lion || rule == UpdateRule::muon;
}

/// Returns what a LossScaleOp's operand says. T: float or double.
template <class T>
LINNET_HOST_DEVICE inline GradientScale gradient_scale(const T* state) {
  return {.scale = state[static_cast<std::size_t>(LossScale::scale)],
          .skipped = state[static_cast<std::size_t>(LossScale::skipped)]};
}

/// T: the type of the factors.
template <class T = float, class Power>
LINNET_HOST_DEVICE inline UpdateFactorsOf<T> update_factors(const UpdateSettings& settings,
                                                            const UpdateRange& range,
                                                            const StepInfo& step, double norm,
                                                            const GradientScale& scale,
                                                            Power power) {
  const double rate = learning_rate_at(settings, step.schedule_step(), power) * step.rate_factor *
                      range.rate_factor;
  UpdateFactorsOf<T> f{.rate = static_cast<T>(rate),
                       .decay = 1,
                       .penalty = static_cast<T>(range.weight_decay),
                       .first_keep = static_cast<T>(settings.momentum),
                       .first_add = 1,
                       .second_keep = 0,
                       .second_add = 0,
                       .second_scale = 1,
                       .epsilon = static_cast<T>(settings.epsilon),
                       .initial_sum = static_cast<T>(settings.initial_sum),
                       .clip = static_cast<T>(1 / scale.scale),
                       .clip_value = std::numeric_limits<T>::infinity()};
  if (settings.clip_norm > 0 && norm / scale.scale > settings.clip_norm) {
    f.clip = static_cast<T>(settings.clip_norm / norm);
  }
  if (settings.clip_value > 0) f.clip_value = static_cast<T>(settings.clip_value);
  switch (settings.rule) {
    case UpdateRule::sgd:
    case UpdateRule::momentum:
    case UpdateRule::nesterov:
    case UpdateRule::adagrad: break;
    case UpdateRule::rmsprop:
    case UpdateRule::rmsprop_momentum:
      f.second_keep = static_cast<T>(settings.alpha);
      f.second_add = static_cast<T>(1 - settings.alpha);
      break;
    case UpdateRule::adam:
    case UpdateRule::adamw: {
      // Updates that fp16 skipped are counted twice where the range left them out as well.
      const double t = std::max(static_cast<double>(step.update + 1) - scale.skipped -
                                    static_cast<double>(range.left_out),
                                1.0);
      f.rate = static_cast<T>(rate / (1 - power(settings.beta1, t)));
      f.first_keep = static_cast<T>(settings.beta1);
      f.first_add = static_cast<T>(1 - settings.beta1);
      f.second_keep = static_cast<T>(settings.beta2);
      f.second_add = static_cast<T>(1 - settings.beta2);
      f.second_scale = static_cast<T>(1 / std::sqrt(1 - power(settings.beta2, t)));
      break;
    }
    case UpdateRule::lion:
      f.first_keep = static_cast<T>(settings.beta1);
      f.first_add = static_cast<T>(1 - settings.beta1);
      f.second_keep = static_cast<T>(settings.beta2);
      f.second_add = static_cast<T>(1 - settings.beta2);
      break;
    case UpdateRule::muon:
      f.first_add = static_cast<T>(1 - settings.momentum);
      f.second_keep = static_cast<T>(settings.alpha);
      f.second_add = static_cast<T>(1 - settings.alpha);
      break;
  }
  if (decays_apart(settings.rule)) {
    f.decay = static_cast<T>(1 - rate * range.weight_decay);
    f.penalty = 0;
  }
  return f;
}

/// Clamps to [-most, most]; NaN stays NaN.
template <class T>
LINNET_HOST_DEVICE inline T clamped(T x, T most) {
  if (x > most) return most;
  return x < -most ? -most : x;
}

/// -1, 0 or 1; NaN stays NaN.
template <class T>
LINNET_HOST_DEVICE inline T sign_of(T x) {
  if (x > 0) return 1;
  return x < 0 ? static_cast<T>(-1) : x;
}

/// Updates a parameter p by its gradient g; moments that the rule does not keep are left alone.
/// T: float or double.
template <class T>
LINNET_HOST_DEVICE inline void update_element(UpdateRule rule, const UpdateFactorsOf<T>& f, T& p,
                                              T g, T& first, T& second) {
  g = clamped(g * f.clip, f.clip_value) + f.penalty * p;
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
    case UpdateRule::adamw:
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
    case UpdateRule::adagrad:
      first += g * g;
      p -= f.rate * (g / (std::sqrt(first + f.initial_sum) + f.epsilon));
      break;
    case UpdateRule::lion:
      p = p * f.decay - f.rate * sign_of(f.first_keep * first + f.first_add * g);
      first = f.second_keep * first + f.second_add * g;
      break;
    case UpdateRule::muon:
      p *= f.decay;
      first = f.first_keep * first + f.first_add * g;
      second = f.second_keep * first + f.second_add * g;
      break;
  }
}

}  // namespace linnet
