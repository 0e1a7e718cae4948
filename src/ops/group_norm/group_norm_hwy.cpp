// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/group_norm/group_norm_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "backend/cpu/elements_hwy.h"
#include "backend/cpu/joined_rows.h"
#include "ops/group_norm/group_norm_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

HWY_INLINE V set(float x) { return hn::Set(Tag(), x); }

void NormRows(const GroupNormShape& s, double epsilon, std::int64_t rows, const float* x,
              const float* weight, const float* bias, float* y, float* mean, float* inv_std) {
  const std::int64_t width = s.group_channels();
  const auto count = static_cast<float>(width);
  for (std::int64_t i = 0; i < rows * s.groups; ++i, x += width, y += width) {
    const std::int64_t first = i % s.groups * width;
    const float middle =
        sum_of_elements(width, [=](auto at, std::int64_t c) HWY_ATTR { return at.load(x + c); }) /
        count;
    const float squares = sum_of_elements(width, [=](auto at, std::int64_t c) HWY_ATTR {
      const V off = hn::Sub(at.load(x + c), set(middle));
      return hn::Mul(off, off);
    });
    const float scale = 1 / std::sqrt(squares / count + static_cast<float>(epsilon));
    mean[i] = middle;
    inv_std[i] = scale;
    for_row_vectors(1, width, [=](auto at, std::int64_t /*row*/, std::int64_t c) HWY_ATTR {
      const V off = hn::Sub(at.load(x + c), set(middle));
      const V scales = hn::Mul(set(scale), at.load(weight + first + c));
      at.store(hn::MulAdd(off, scales, at.load(bias + first + c)), y + c);
    });
  }
}

void NormRowsGradient(const GroupNormShape& s, std::int64_t rows, const float* dy, const float* x,
                      const float* weight, const float* mean, const float* inv_std, float* dx,
                      float* weight_sums, float* bias_sums) {
  const std::int64_t width = s.group_channels();
  const auto count = static_cast<float>(width);
  for (std::int64_t i = 0; i < rows * s.groups; ++i, x += width, dy += width) {
    const std::int64_t first = i % s.groups * width;
    const V middle = set(mean[i]);
    const V scale = set(inv_std[i]);
    const float* weights = weight + first;
    const auto normalised = [=](auto at, std::int64_t c) HWY_ATTR {
      return hn::Mul(hn::Sub(at.load(x + c), middle), scale);
    };
    for_row_vectors(1, width, [=](auto at, std::int64_t /*row*/, std::int64_t c) HWY_ATTR {
      const V slope = at.load(dy + c);
      float* of_weight = weight_sums + first + c;
      float* of_bias = bias_sums + first + c;
      at.store(hn::MulAdd(slope, normalised(at, c), at.load(of_weight)), of_weight);
      at.store(hn::Add(slope, at.load(of_bias)), of_bias);
    });
    if (dx == nullptr) continue;
    const auto weighted = [=](auto at, std::int64_t c)
                              HWY_ATTR { return hn::Mul(at.load(dy + c), at.load(weights + c)); };
    const V constant = set(sum_of_elements(width, weighted) / count);
    const V factor = set(sum_of_elements(width,
                                         [=](auto at, std::int64_t c) HWY_ATTR {
                                           return hn::Mul(weighted(at, c), normalised(at, c));
                                         }) /
                         count);
    for_row_vectors(1, width, [=](auto at, std::int64_t /*row*/, std::int64_t c) HWY_ATTR {
      const V rest = hn::NegMulAdd(normalised(at, c), factor, hn::Sub(weighted(at, c), constant));
      at.store(hn::Mul(scale, rest), dx + c);
    });
    dx += width;
  }
}

/// Calls f(access, count, c) for vectors of channels from c on: `count`, a constant, of them beside
/// each other, so that a loop over pixels reads memory in its order.
template <int kCount, class F>
HWY_INLINE void for_vector_groups(std::int64_t channels, F&& f) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag()));
  const std::integral_constant<int, 1> one;
  std::int64_t c = 0;
  for (; c + kCount * lanes <= channels; c += kCount * lanes) {
    f(Whole{}, std::integral_constant<int, kCount>(), c);
  }
  for (; c + lanes <= channels; c += lanes) f(Whole{}, one, c);
  if (c < channels) f(Rest{channels - c}, one, c);
}

template <bool kSquared>
HWY_INLINE void sums_of_channels(const float* x, std::int64_t pixels, std::int64_t channels,
                                 const float* means, float* sums) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag()));
  for_vector_groups<8>(channels, [=](auto at, auto count, std::int64_t c) HWY_ATTR {
    V all[count.value];
    for (V& sum : all) sum = hn::Zero(at.d);
    for (std::int64_t p = 0; p < pixels; ++p) {
      for (int k = 0; k < count.value; ++k) {
        const V off =
            hn::Sub(at.load(x + p * channels + c + k * lanes), at.load(means + c + k * lanes));
        all[k] = kSquared ? hn::MulAdd(off, off, all[k]) : hn::Add(all[k], off);
      }
    }
    for (int k = 0; k < count.value; ++k) at.store(all[k], sums + c + k * lanes);
  });
}

void ChannelSums(const float* x, std::int64_t pixels, std::int64_t channels, const float* means,
                 bool squared, float* sums) {
  if (squared) {
    sums_of_channels<true>(x, pixels, channels, means, sums);
  } else {
    sums_of_channels<false>(x, pixels, channels, means, sums);
  }
}

void ScaleChannels(const float* x, std::int64_t pixels, std::int64_t channels, const float* means,
                   const float* scales, const float* bias, float* y) {
  for_row_vectors(pixels, channels, [=](auto at, std::int64_t p, std::int64_t c) HWY_ATTR {
    const V off = hn::Sub(at.load(x + p * channels + c), at.load(means + c));
    at.store(hn::MulAdd(off, at.load(scales + c), at.load(bias + c)), y + p * channels + c);
  });
}

void ChannelGradientSums(const float* dy, const float* x, std::int64_t pixels,
                         std::int64_t channels, const NormChannels& of, float* sums,
                         float* products) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Tag()));
  for_vector_groups<4>(channels, [=](auto at, auto count, std::int64_t c) HWY_ATTR {
    V of_slopes[count.value];
    V of_products[count.value];
    for (int k = 0; k < count.value; ++k) of_slopes[k] = of_products[k] = hn::Zero(at.d);
    for (std::int64_t p = 0; p < pixels; ++p) {
      for (int k = 0; k < count.value; ++k) {
        const std::int64_t channel = c + k * lanes;
        const V slope = at.load(dy + p * channels + channel);
        const V off = hn::Sub(at.load(x + p * channels + channel), at.load(of.means + channel));
        of_slopes[k] = hn::Add(of_slopes[k], slope);
        of_products[k] =
            hn::MulAdd(slope, hn::Mul(off, at.load(of.inv_stds + channel)), of_products[k]);
      }
    }
    for (int k = 0; k < count.value; ++k) {
      float* sum = sums + c + k * lanes;
      float* product = products + c + k * lanes;
      at.store(hn::Add(at.load(sum), of_slopes[k]), sum);
      at.store(hn::Add(at.load(product), of_products[k]), product);
    }
  });
}

void ChannelGradients(const float* dy, const float* x, std::int64_t pixels, std::int64_t channels,
                      const NormChannels& of, const float* weight, const float* constant,
                      const float* factor, float* dx) {
  for_row_vectors(pixels, channels, [=](auto at, std::int64_t p, std::int64_t c) HWY_ATTR {
    const std::int64_t i = p * channels + c;
    const V scale = at.load(of.inv_stds + c);
    const V normalised = hn::Mul(hn::Sub(at.load(x + i), at.load(of.means + c)), scale);
    const V weighted =
        hn::Sub(hn::Mul(at.load(dy + i), at.load(weight + c)), at.load(constant + c));
    at.store(hn::Mul(scale, hn::NegMulAdd(normalised, at.load(factor + c), weighted)), dx + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(NormRows);
HWY_EXPORT(NormRowsGradient);
HWY_EXPORT(ChannelSums);
HWY_EXPORT(ScaleChannels);
HWY_EXPORT(ChannelGradientSums);
HWY_EXPORT(ChannelGradients);

void norm_rows(const GroupNormShape& s, double epsilon, std::int64_t rows, const float* x,
               const float* weight, const float* bias, float* y, float* mean, float* inv_std) {
  HWY_DYNAMIC_DISPATCH(NormRows)(s, epsilon, rows, x, weight, bias, y, mean, inv_std);
}

void norm_rows_gradient(const GroupNormShape& s, std::int64_t rows, const float* dy, const float* x,
                        const float* weight, const float* mean, const float* inv_std, float* dx,
                        float* weight_sums, float* bias_sums) {
  HWY_DYNAMIC_DISPATCH(NormRowsGradient)
  (s, rows, dy, x, weight, mean, inv_std, dx, weight_sums, bias_sums);
}

namespace {

/// Returns how many neighbouring pixels are one row of a loop: enough to fill whole vectors, and
/// several of them, whose sums do not wait for each other.
std::int64_t joined_pixels(std::int64_t pixels, std::int64_t channels) {
  constexpr std::int64_t kEnough = 128;
  std::int64_t joined = joined_rows(pixels, channels);
  while (joined * channels < kEnough && pixels >= 4 * joined) joined *= 2;
  return joined;
}

/// Sums of joined pixels, which are added up channel by channel.
class JoinedSums {
 public:
  operator float*() { return values_.data(); }
  void add_to(float* sums, std::int64_t channels, std::int64_t width) const {
    const float* values = values_.data();
    for (std::int64_t i = 0; i < width; i += channels) {
      for (std::int64_t c = 0; c < channels; ++c) sums[c] += values[i + c];
    }
  }

 private:
  std::array<float, kMostJoined> values_ = {};
};

}  // namespace

void channel_sums(const float* x, std::int64_t pixels, std::int64_t channels, const float* means,
                  bool squared, float* sums) {
  const std::int64_t joined = joined_pixels(pixels, channels);
  if (joined == 1) {
    HWY_DYNAMIC_DISPATCH(ChannelSums)(x, pixels, channels, means, squared, sums);
    return;
  }
  const RepeatedRow wide(means, channels, joined);
  std::fill_n(sums, channels, 0.0F);
  for_joined_rows(pixels, channels, joined,
                  [&](std::int64_t p, std::int64_t rows, std::int64_t width) {
                    JoinedSums all;
                    HWY_DYNAMIC_DISPATCH(ChannelSums)
                    (x + p * channels, rows, width, wide, squared, all);
                    all.add_to(sums, channels, width);
                  });
}

void scale_channels(const float* x, std::int64_t pixels, std::int64_t channels, const float* means,
                    const float* scales, const float* bias, float* y) {
  const std::int64_t joined = joined_rows(pixels, channels);
  if (joined == 1) {
    HWY_DYNAMIC_DISPATCH(ScaleChannels)(x, pixels, channels, means, scales, bias, y);
    return;
  }
  const RepeatedRow m(means, channels, joined);
  const RepeatedRow s(scales, channels, joined);
  const RepeatedRow b(bias, channels, joined);
  for_joined_rows(pixels, channels, joined,
                  [&](std::int64_t p, std::int64_t rows, std::int64_t width) {
                    HWY_DYNAMIC_DISPATCH(ScaleChannels)
                    (x + p * channels, rows, width, m, s, b, y + p * channels);
                  });
}

void channel_gradient_sums(const float* dy, const float* x, std::int64_t pixels,
                           std::int64_t channels, const NormChannels& of, float* sums,
                           float* products) {
  const std::int64_t joined = joined_pixels(pixels, channels);
  if (joined == 1) {
    HWY_DYNAMIC_DISPATCH(ChannelGradientSums)(dy, x, pixels, channels, of, sums, products);
    return;
  }
  const RepeatedRow means(of.means, channels, joined);
  const RepeatedRow inv_stds(of.inv_stds, channels, joined);
  for_joined_rows(
      pixels, channels, joined, [&](std::int64_t p, std::int64_t rows, std::int64_t width) {
        JoinedSums slopes;
        JoinedSums weighted;
        HWY_DYNAMIC_DISPATCH(ChannelGradientSums)
        (dy + p * channels, x + p * channels, rows, width, {means, inv_stds}, slopes, weighted);
        slopes.add_to(sums, channels, width);
        weighted.add_to(products, channels, width);
      });
}

void channel_gradients(const float* dy, const float* x, std::int64_t pixels, std::int64_t channels,
                       const NormChannels& of, const float* weight, const float* constant,
                       const float* factor, float* dx) {
  const std::int64_t joined = joined_rows(pixels, channels);
  if (joined == 1) {
    HWY_DYNAMIC_DISPATCH(ChannelGradients)
    (dy, x, pixels, channels, of, weight, constant, factor, dx);
    return;
  }
  const RepeatedRow means(of.means, channels, joined);
  const RepeatedRow inv_stds(of.inv_stds, channels, joined);
  const RepeatedRow weights(weight, channels, joined);
  const RepeatedRow constants(constant, channels, joined);
  const RepeatedRow factors(factor, channels, joined);
  for_joined_rows(pixels, channels, joined,
                  [&](std::int64_t p, std::int64_t rows, std::int64_t width) {
                    HWY_DYNAMIC_DISPATCH(ChannelGradients)
                    (dy + p * channels, x + p * channels, rows, width, {means, inv_stds}, weights,
                     constants, factors, dx + p * channels);
                  });
}

}  // namespace linnet::cpu
#endif
