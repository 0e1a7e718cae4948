// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the references and the kernels of mix_batch and mix_targets share.
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/host_device.h"
#include "base/random.h"
#include "graph/step.h"
#include "ops/mix_batch/mix_batch.h"

namespace linnet {

/// Uniform in (0, 1), from word `at` of a sequence.
LINNET_HOST_DEVICE inline double mix_uniform(std::uint64_t key, std::uint64_t at) {
  const std::uint32_t word = philox(key, at / 4, 0)[at % 4];
  return (static_cast<double>(word) + 0.5) * (1.0 / 4294967296.0);
}

/// Returns the logarithm of a Gamma(alpha, 1) number: Marsaglia and Tsang, "A Simple Method for
/// Generating Gamma Variables", 2000; below alpha 1 by their boost, in logarithms since it may
/// underflow.
LINNET_HOST_DEVICE inline double log_gamma_number(double alpha, std::uint64_t key) {
  const double boost = alpha < 1 ? log(mix_uniform(key, 0)) / alpha : 0;
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3;
  const double c = 1 / sqrt(9 * d);
  for (std::uint64_t at = 1; at < 400; at += 3) {  // each try succeeds with 95 % or more
    const double x =
        sqrt(-2 * log(mix_uniform(key, at))) * cos(6.283185307179586 * mix_uniform(key, at + 1));
    const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
    if (v <= 0) continue;
    if (log(mix_uniform(key, at + 2)) < x * x / 2 + d - d * v + d * log(v)) {
      return boost + log(d * v);
    }
  }
  return boost + log(d);
}

/// Random draws for one batch. The box is empty but for cut-mix.
struct MixDraw {
  double share;  ///< l
  bool cut;
  std::int64_t top;
  std::int64_t left;
  std::int64_t bottom;
  std::int64_t right;
  std::uint64_t order;  ///< key of the partners

  LINNET_HOST_DEVICE std::int64_t partner(std::int64_t i, std::int64_t batch) const {
    return static_cast<std::int64_t>(
        Permutation(order, static_cast<std::uint64_t>(batch))(static_cast<std::uint64_t>(i)));
  }
  /// Returns whether the pixel comes from the partner.
  LINNET_HOST_DEVICE bool in_box(std::int64_t y, std::int64_t x) const {
    return y >= top && y < bottom && x >= left && x < right;
  }
  /// Element `at` of a sample of (height, width, channels).
  template <class T>
  LINNET_HOST_DEVICE T mixed(T own, T other, std::int64_t at, std::int64_t width,
                             std::int64_t channels) const {
    if (!cut) return static_cast<T>(share) * own + static_cast<T>(1 - share) * other;
    return in_box(at / channels / width, at / channels % width) ? other : own;
  }
};

LINNET_HOST_DEVICE inline MixDraw draw_mix(const MixRule& rule, const StepInfo& step) {
  const auto key = [&](std::uint64_t use) {
    return random_key(step.seed, RandomStream::mix, step.step, use);
  };
  MixDraw draw{};
  draw.order = key(0) + step.first_row * 0x9E3779B97F4A7C15U;
  draw.cut = rule.cutmix > 0 && (rule.mixup <= 0 || mix_uniform(key(1), 0) < 0.5);
  const double alpha = draw.cut ? rule.cutmix : rule.mixup;
  draw.share = 1 / (1 + exp(log_gamma_number(alpha, key(3)) - log_gamma_number(alpha, key(2))));
  if (!draw.cut) return draw;
  const auto height = static_cast<double>(rule.height);
  const auto width = static_cast<double>(rule.width);
  const double side = sqrt(1 - draw.share);
  const auto half_h = static_cast<std::int64_t>(height * side) / 2;
  const auto half_w = static_cast<std::int64_t>(width * side) / 2;
  const auto y = static_cast<std::int64_t>(height * mix_uniform(key(4), 0));
  const auto x = static_cast<std::int64_t>(width * mix_uniform(key(4), 1));
  draw.top = y > half_h ? y - half_h : 0;
  draw.left = x > half_w ? x - half_w : 0;
  draw.bottom = y + half_h < rule.height ? y + half_h : rule.height;
  draw.right = x + half_w < rule.width ? x + half_w : rule.width;
  draw.share = 1 - static_cast<double>((draw.bottom - draw.top) * (draw.right - draw.left)) /
                       (height * width);
  return draw;
}

/// Element c of a mixed row of labels.
LINNET_HOST_DEVICE inline double mixed_label(const MixDraw& draw, std::int64_t label,
                                             std::int64_t other, std::int64_t c,
                                             std::int64_t classes) {
  if (label < 0 || label >= classes || other < 0 || other >= classes) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return (c == label ? draw.share : 0) + (c == other ? 1 - draw.share : 0);
}

}  // namespace linnet
