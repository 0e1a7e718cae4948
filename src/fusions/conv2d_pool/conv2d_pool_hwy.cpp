// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. Vectors run over
// output channels.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fusions/conv2d_pool/conv2d_pool_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <type_traits>

#include "fusions/conv2d_pool/conv2d_pool_cpu.h"
#include "fusions/conv2d_pool/windows_hwy.h"
#include "ops/pool2d/winner_hwy.h"

#ifndef LINNET_UNROLL_TAPS
#ifdef __SANITIZE_ADDRESS__  // unrolled and checked at every access, the loops compile for minutes
#define LINNET_UNROLL_TAPS
#else
#define LINNET_UNROLL_TAPS HWY_UNROLL(16)
#endif
#endif

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Channels [c0, c0 + kVectors * lanes) of kWindows pooled pixels side by side, from pixel `at` of
/// y on: the four convolution results of a window are summed in registers, and only the largest
/// leaves them.
template <int kWindows, int kVectors, int kRows, int kRow, class D>
HWY_INLINE void forward_windows(D d, const ConvPoolSample& s, std::int64_t c0, const float* x,
                                const float* w, const float* b, std::int64_t at, float* y,
                                std::uint8_t* winner) {
  using V = hn::Vec<D>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sums[kWindows][kVectors][4];
  for (int v = 0; v < kVectors; ++v) {
    const V bias = hn::LoadU(d, b + c0 + v * lanes);
    for (auto& window : sums) {
      for (V& sum : window[v]) sum = bias;
    }
  }
  HWY_UNROLL(1)  // or GCC keeps a row of vectors for the next k on the stack
  for (int k = 0; k < kRows; ++k) {
    LINNET_UNROLL_TAPS
    for (int t = 0; t < kRow; ++t) {
      const float* weights = w + (k * kRow + t) * s.out_channels + c0;
      for (int n = 0; n < kWindows; ++n) {
        const float* top = x + k * s.row + 2 * n * s.channels + t;
        const V x00 = hn::Set(d, top[0]);
        const V x01 = hn::Set(d, top[s.channels]);
        const V x10 = hn::Set(d, top[s.row]);
        const V x11 = hn::Set(d, top[s.row + s.channels]);
        for (int v = 0; v < kVectors; ++v) {
          const V weight = hn::LoadU(d, weights + v * lanes);
          V(&sum)[4] = sums[n][v];
          sum[0] = hn::MulAdd(x00, weight, sum[0]);
          sum[1] = hn::MulAdd(x01, weight, sum[1]);
          sum[2] = hn::MulAdd(x10, weight, sum[2]);
          sum[3] = hn::MulAdd(x11, weight, sum[3]);
        }
      }
    }
  }
  for (int n = 0; n < kWindows; ++n) {
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t to = (at + n) * s.out_channels + c0 + v * lanes;
      store_window(d, s.relu, sums[n][v], y + to, winner + to);
    }
  }
}

/// Channels [c0, c0 + kVectors * lanes) of all pooled pixels.
template <int kWindows, int kVectors, int kRows, int kRow, class D>
HWY_INLINE void forward_channels(D d, const ConvPoolSample& s, std::int64_t c0, const float* image,
                                 const float* w, const float* b, float* y, std::uint8_t* winner) {
  for (std::int64_t i = 0; i < s.pooled_h; ++i) {
    const float* x = image + 2 * i * s.row;
    const std::int64_t at = i * s.pooled_w;
    std::int64_t j = 0;
    for (; j + kWindows <= s.pooled_w; j += kWindows) {
      forward_windows<kWindows, kVectors, kRows, kRow>(d, s, c0, x + 2 * j * s.channels, w, b,
                                                       at + j, y, winner);
    }
    if constexpr (kWindows > 1) {
      for (; j < s.pooled_w; ++j) {
        forward_windows<1, kVectors, kRows, kRow>(d, s, c0, x + 2 * j * s.channels, w, b, at + j, y,
                                                  winner);
      }
    }
  }
}

/// dw and db for channels [c0, c0 + lanes): every window adds its gradient times what its winner
/// multiplied; the three others add nothing.
template <int kRows, int kRow, class D>
HWY_INLINE void backward_channels(D d, const ConvPoolSample& s, std::int64_t c0, const float* image,
                                  const float* dy, const float* y, const std::uint8_t* winner,
                                  float* dw, float* db) {
  using V = hn::Vec<D>;
  const hn::Rebind<std::int32_t, D> integers;
  const hn::Rebind<std::uint8_t, D> bytes;
  const V zero = hn::Zero(d);
  V sums[kRows][kRow];
  for (int k = 0; k < kRows; ++k) {
    for (int t = 0; t < kRow; ++t) {
      sums[k][t] = hn::LoadU(d, dw + (k * kRow + t) * s.out_channels + c0);
    }
  }
  V bias = hn::LoadU(d, db + c0);
  for (std::int64_t i = 0; i < s.pooled_h; ++i) {
    for (std::int64_t j = 0; j < s.pooled_w; ++j) {
      const std::int64_t at = (i * s.pooled_w + j) * s.out_channels + c0;
      V g = hn::LoadU(d, dy + at);
      if (s.relu) g = hn::IfThenElseZero(hn::Gt(hn::LoadU(d, y + at), zero), g);
      bias = hn::Add(bias, g);
      const auto index = hn::PromoteTo(integers, hn::LoadU(bytes, winner + at));
      const auto gradient_of = [&](std::int32_t position) {
        return hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(index, hn::Set(integers, position))), g);
      };
      const V g00 = gradient_of(0);
      const V g01 = gradient_of(1);
      const V g10 = gradient_of(2);
      const V g11 = gradient_of(3);
      const float* x = image + 2 * i * s.row + 2 * j * s.channels;
      for (int k = 0; k < kRows; ++k) {
        LINNET_UNROLL_TAPS
        for (int t = 0; t < kRow; ++t) {
          V sum = sums[k][t];
          sum = hn::MulAdd(g00, hn::Set(d, x[k * s.row + t]), sum);
          sum = hn::MulAdd(g01, hn::Set(d, x[k * s.row + s.channels + t]), sum);
          sum = hn::MulAdd(g10, hn::Set(d, x[(k + 1) * s.row + t]), sum);
          sum = hn::MulAdd(g11, hn::Set(d, x[(k + 1) * s.row + s.channels + t]), sum);
          sums[k][t] = sum;
        }
      }
    }
  }
  for (int k = 0; k < kRows; ++k) {
    for (int t = 0; t < kRow; ++t) {
      hn::StoreU(sums[k][t], d, dw + (k * kRow + t) * s.out_channels + c0);
    }
  }
  hn::StoreU(bias, d, db + c0);
}

#if LINNET_LONG_VECTORS
/// The weights of a 3x3 kernel over one channel, all in registers.
template <class D>
struct Weights3x3 {
  hn::Vec<D> bias;
  hn::Vec<D> taps[9];
};

/// kWindows pooled pixels side by side, from pixel `at` of y on; each pixel that they cover, from x
/// on, is read once.
template <int kWindows, class D>
HWY_INLINE void windows_3x3(D d, const ConvPoolSample& s, const float* x,
                            const Weights3x3<D>& weights, std::int64_t at, float* y,
                            std::uint8_t* winner) {
  using V = hn::Vec<D>;
  V sums[kWindows][4];
  for (auto& window : sums) {
    for (V& sum : window) sum = weights.bias;
  }
  HWY_UNROLL(4)
  for (int k = 0; k < 4; ++k, x += s.row) {
    V pixels[2 * kWindows + 2];
    for (int p = 0; p < 2 * kWindows + 2; ++p) pixels[p] = hn::Set(d, x[p]);
    for (int t = 0; t < 3; ++t) {
      for (int n = 0; n < kWindows; ++n) {
        for (int below = 0; below < 2; ++below) {  // the window's upper and lower results
          if (k - below < 0 || k - below > 2) continue;
          const V tap = weights.taps[3 * (k - below) + t];
          V* sum = sums[n] + 2 * below;
          sum[0] = hn::MulAdd(pixels[2 * n + t], tap, sum[0]);
          sum[1] = hn::MulAdd(pixels[2 * n + t + 1], tap, sum[1]);
        }
      }
    }
  }
  for (int n = 0; n < kWindows; ++n) {
    const std::int64_t to = (at + n) * s.out_channels;
    store_window(d, s.relu, sums[n], y + to, winner + to);
  }
}

/// One channel of the pixels of a row that kWindows windows of a square kernel cover.
template <int kWindows, int kSize, class D>
using Pixels = hn::Vec<D>[2 * kWindows + kSize - 1];

template <int kWindows, int kSize, int kChannels, class D>
HWY_INLINE void load_pixels(D d, const float* x, Pixels<kWindows, kSize, D>& pixels) {
  for (int p = 0; p < 2 * kWindows + kSize - 1; ++p) pixels[p] = hn::Set(d, x[p * kChannels]);
}

/// Adds to the upper or the lower results of windows what a tap multiplies.
template <int kWindows, int kSize, bool kLower, class D>
HWY_INLINE void add_tap(D d, const Pixels<kWindows, kSize, D>& pixels, int tap,
                        const float* weights, hn::Vec<D> (&sums)[kWindows][4]) {
  const auto weight = hn::LoadU(d, weights);
  for (int n = 0; n < kWindows; ++n) {
    auto* sum = sums[n] + 2 * kLower;
    sum[0] = hn::MulAdd(pixels[2 * n + tap], weight, sum[0]);
    sum[1] = hn::MulAdd(pixels[2 * n + tap + 1], weight, sum[1]);
  }
}

/// Adds what one row of an image gives to upper results by the weights at w, and to lower ones by
/// the row of weights before.
template <int kWindows, int kSize, int kChannels, class D>
HWY_INLINE void add_row(D d, const float* x, const float* w, std::int64_t out_channels,
                        hn::Vec<D> (&sums)[kWindows][4]) {
  for (int c = 0; c < kChannels; ++c) {
    Pixels<kWindows, kSize, D> pixels;
    load_pixels<kWindows, kSize, kChannels>(d, x + c, pixels);
    for (int t = 0; t < kSize; ++t) {
      const float* weights = w + (t * kChannels + c) * out_channels;
      add_tap<kWindows, kSize, false>(d, pixels, t, weights, sums);
      add_tap<kWindows, kSize, true>(d, pixels, t, weights - kSize * kChannels * out_channels,
                                     sums);
    }
  }
}

/// Adds the first row to upper results and the last one to lower results: in one loop, since half
/// of the sums alone would not hide the latency of an addition.
template <int kWindows, int kSize, int kChannels, class D>
HWY_INLINE void add_ends(D d, const float* first, const float* last, const float* w,
                         std::int64_t out_channels, hn::Vec<D> (&sums)[kWindows][4]) {
  constexpr int kRow = kSize * kChannels;
  for (int c = 0; c < kChannels; ++c) {
    Pixels<kWindows, kSize, D> pixels;
    load_pixels<kWindows, kSize, kChannels>(d, first + c, pixels);
    for (int t = 0; t < kSize; ++t) {
      add_tap<kWindows, kSize, false>(d, pixels, t, w + (t * kChannels + c) * out_channels, sums);
    }
    load_pixels<kWindows, kSize, kChannels>(d, last + c, pixels);
    for (int t = 0; t < kSize; ++t) {
      const int tap = (kSize - 1) * kRow + t * kChannels + c;
      add_tap<kWindows, kSize, true>(d, pixels, t, w + tap * out_channels, sums);
    }
  }
}

/// kWindows pooled pixels side by side, from pixel `at` of y on, of a square kernel.
template <int kWindows, int kSize, int kChannels, class D>
HWY_INLINE void windows_square(D d, const ConvPoolSample& s, const float* x, const float* w,
                               hn::Vec<D> bias, std::int64_t at, float* y, std::uint8_t* winner) {
  hn::Vec<D> sums[kWindows][4];
  for (auto& window : sums) {
    for (auto& sum : window) sum = bias;
  }
  const std::int64_t row = kSize * kChannels * s.out_channels;
  add_ends<kWindows, kSize, kChannels>(d, x, x + kSize * s.row, w, s.out_channels, sums);
  HWY_UNROLL(1)
  for (int k = 1; k < kSize; ++k) {
    add_row<kWindows, kSize, kChannels>(d, x + k * s.row, w + k * row, s.out_channels, sums);
  }
  for (int n = 0; n < kWindows; ++n) {
    const std::int64_t to = (at + n) * s.out_channels;
    store_window(d, s.relu, sums[n], y + to, winner + to);
  }
}

/// forward_channels() of a square kernel.
template <int kSize, int kChannels, class D>
HWY_INLINE void forward_square(D d, const ConvPoolSample& sample, std::int64_t c0,
                               const float* image, const float* w, const float* b, float* y,
                               std::uint8_t* winner) {
  const ConvPoolSample s = sample;  // which stores of winners cannot change
  const hn::Vec<D> bias = hn::LoadU(d, b + c0);
  for (std::int64_t i = 0; i < s.pooled_h; ++i) {
    const float* x = image + 2 * i * s.row;
    std::int64_t at = i * s.pooled_w;
    for_windows(s.pooled_w, [&](auto count) HWY_ATTR {
      windows_square<count(), kSize, kChannels>(d, s, x, w + c0, bias, at, y + c0, winner + c0);
      at += count();
      x += 2 * count() * kChannels;
    });
  }
}

/// forward_channels() of a 3x3 kernel over one channel.
template <class D>
HWY_INLINE void forward_3x3(D d, const ConvPoolSample& sample, std::int64_t c0, const float* image,
                            const float* w, const float* b, float* y, std::uint8_t* winner) {
  const ConvPoolSample s = sample;  // which stores of winners cannot change
  Weights3x3<D> weights;
  weights.bias = hn::LoadU(d, b + c0);
  for (int t = 0; t < 9; ++t) weights.taps[t] = hn::LoadU(d, w + t * s.out_channels + c0);
  for (std::int64_t i = 0; i < s.pooled_h; ++i) {
    const float* x = image + 2 * i * s.row;
    std::int64_t at = i * s.pooled_w;
    const std::int64_t end = at + s.pooled_w;
    for (; at + 2 <= end; at += 2, x += 4) {
      windows_3x3<2>(d, s, x, weights, at, y + c0, winner + c0);
    }
    if (at < end) windows_3x3<1>(d, s, x, weights, at, y + c0, winner + c0);
  }
}
#endif

/// Eight sums at once hide the latency of an addition: of two windows, or of two vectors.
template <int kRows, int kRow>
void forward(const ConvPoolSample& s, const float* image, const float* w, const float* b, float* y,
             std::uint8_t* winner) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t c = 0;
#if LINNET_LONG_VECTORS
  for (; c + 16 <= s.out_channels; c += 16) {
    if constexpr (kRows == 3 && kRow == 3) {
      if (s.channels == 1) {
        forward_3x3(LongTag(), s, c, image, w, b, y, winner);
        continue;
      }
    }
    constexpr int kChannels = kRow / kRows;
    if (s.channels == kChannels) {
      forward_square<kRows, kChannels>(LongTag(), s, c, image, w, b, y, winner);
    } else {
      forward_channels<2, 1, kRows, kRow>(LongTag(), s, c, image, w, b, y, winner);
    }
  }
#else
  for (; c + 2 * lanes <= s.out_channels; c += 2 * lanes) {
    forward_channels<1, 2, kRows, kRow>(d, s, c, image, w, b, y, winner);
  }
#endif
  for (; c < s.out_channels; c += lanes) {
    forward_channels<1, 1, kRows, kRow>(d, s, c, image, w, b, y, winner);
  }
}

/// As backward_channels(), where a row of the kernel fills vectors: channel by channel, with
/// vectors over the row, every window adds what its winner multiplied, and the three others are not
/// read.
template <int kRows, int kRow>
void backward_winners(const ConvPoolSample& s, const float* image, const float* dy, const float* y,
                      const std::uint8_t* winner, float* dw, float* db) {
  const Tag d;
  using V = hn::Vec<Tag>;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));
  constexpr int kVectors = (kRow + kLanes - 1) / kLanes;
  static_assert(kVectors * kLanes - kRow <= kConvPoolSlack);
  WonPatch list[kLanes][kListed];
  HWY_ALIGN std::int32_t counts[kLanes];
  const std::int64_t windows = s.pooled_h * s.pooled_w;
  for (std::int64_t c = 0; c < s.out_channels; c += kLanes) {
    HWY_ALIGN float totals[kLanes][kRows][kVectors * kLanes] = {};
    V bias = hn::LoadU(d, db + c);
    for (std::int64_t begin = 0; begin < windows; begin += kListed) {
      list_won(d, s, c, begin, std::min(begin + kListed, windows), dy, y, winner, list, counts,
               bias);
      for (int lane = 0; lane < kLanes; ++lane) {
        V sums[kRows][kVectors];
        for (int k = 0; k < kRows; ++k) {
          for (int v = 0; v < kVectors; ++v) {
            sums[k][v] = hn::LoadU(d, totals[lane][k] + v * kLanes);
          }
        }
        for (int i = 0; i < counts[lane]; ++i) {
          const float* x = image + list[lane][i].at;
          const V gradient = hn::Set(d, list[lane][i].gradient);
          for (int k = 0; k < kRows; ++k, x += s.row) {
            for (int v = 0; v < kVectors; ++v) {
              sums[k][v] = hn::MulAdd(gradient, hn::LoadU(d, x + v * kLanes), sums[k][v]);
            }
          }
        }
        for (int k = 0; k < kRows; ++k) {
          for (int v = 0; v < kVectors; ++v) {
            hn::StoreU(sums[k][v], d, totals[lane][k] + v * kLanes);
          }
        }
      }
    }
    hn::StoreU(bias, d, db + c);
    for (int k = 0; k < kRows; ++k) {
      for (int t = 0; t < kRow; ++t) {
        float* to = dw + (k * kRow + t) * s.out_channels + c;
        for (int lane = 0; lane < kLanes; ++lane) to[lane] += totals[lane][k][t];
      }
    }
  }
}

#if LINNET_LONG_VECTORS
/// backward_channels() of a 3x3 kernel over one channel, with vectors of 16: all that a window's
/// four results multiplied, 4x4 pixels, is one vector, in which each channel looks up its winner's.
template <class D>
HWY_INLINE void backward_3x3(D d, const ConvPoolSample& s, std::int64_t c0, const float* image,
                             const float* dy, const float* y, const std::uint8_t* winner, float* dw,
                             float* db) {
  using V = hn::Vec<D>;
  const hn::RebindToSigned<D> integers;
  const hn::CappedTag<float, 4> line;
  V sums[9];
  for (int t = 0; t < 9; ++t) sums[t] = hn::LoadU(d, dw + t * s.out_channels + c0);
  V bias = hn::LoadU(d, db + c0);
  for (std::int64_t i = 0; i < s.pooled_h; ++i) {
    for (std::int64_t j = 0; j < s.pooled_w; ++j) {
      const std::int64_t at = (i * s.pooled_w + j) * s.out_channels + c0;
      const auto [dz, won] = load_won(d, dy + at, winner + at);
      V g = dz;
      if (s.relu) g = hn::IfThenElseZero(hn::Gt(hn::LoadU(d, y + at), hn::Zero(d)), g);
      bias = hn::Add(bias, g);
      const float* x = image + 2 * i * s.row + 2 * j;
      const hn::Half<D> half;
      const auto lines = [&](const float* from) {
        return hn::Combine(half, hn::LoadU(line, from + s.row), hn::LoadU(line, from));
      };
      const V patch = hn::Combine(d, lines(x + 2 * s.row), lines(x));
      // Winners 0 to 3 begin at pixels 0, 1, 4 and 5 of the patch.
      const auto first = hn::Add(won, hn::And(won, hn::Set(integers, 2)));
      HWY_UNROLL(9)
      for (int t = 0; t < 9; ++t) {
        const auto pixel = hn::Add(first, hn::Set(integers, t / 3 * 4 + t % 3));
        sums[t] = hn::MulAdd(g, hn::TableLookupLanes(patch, hn::IndicesFromVec(d, pixel)), sums[t]);
      }
    }
  }
  for (int t = 0; t < 9; ++t) hn::StoreU(sums[t], d, dw + t * s.out_channels + c0);
  hn::StoreU(bias, d, db + c0);
}

/// Puts the channels that lie side by side in `image` one after the other: (C, rows, columns).
HWY_INLINE void to_planes(const float* image, std::int64_t pixels, std::int64_t channels,
                          float* planes) {
  const LongTag d;
  std::int64_t i = 0;
  if (channels == 3) {
    for (; i + 16 <= pixels; i += 16) {
      hn::Vec<LongTag> red;
      hn::Vec<LongTag> green;
      hn::Vec<LongTag> blue;
      hn::LoadInterleaved3(d, image + 3 * i, red, green, blue);
      hn::StoreU(red, d, planes + i);
      hn::StoreU(green, d, planes + pixels + i);
      hn::StoreU(blue, d, planes + 2 * pixels + i);
    }
  }
  for (; i < pixels; ++i) {
    for (std::int64_t c = 0; c < channels; ++c) planes[c * pixels + i] = image[i * channels + c];
  }
}

/// backward_channels() of a square kernel, one input channel at a time, whose plane has rows of
/// `row` floats: of two rows of a patch, 8 floats each are one vector, in which each output channel
/// looks up its winner's.
template <int kSize, class D>
HWY_INLINE void backward_plane(D d, const ConvPoolSample& s, std::int64_t c0, std::int64_t channel,
                               const float* plane, std::int64_t row, const float* dy,
                               const float* y, const std::uint8_t* winner, float* dw, float* db) {
  using V = hn::Vec<D>;
  static_assert(kSize + 1 <= 8);
  const hn::RebindToSigned<D> integers;
  const hn::Half<D> half;
  const auto tap = [&](int k, int t) {
    return dw + (k * s.kernel_row + t * s.channels + channel) * s.out_channels + c0;
  };
  V sums[kSize][kSize];
  for (int k = 0; k < kSize; ++k) {
    for (int t = 0; t < kSize; ++t) sums[k][t] = hn::LoadU(d, tap(k, t));
  }
  V bias = hn::LoadU(d, db + c0);
  for (std::int64_t i = 0; i < s.pooled_h; ++i) {
    for (std::int64_t j = 0; j < s.pooled_w; ++j) {
      const std::int64_t at = (i * s.pooled_w + j) * s.out_channels + c0;
      const auto [dz, won] = load_won(d, dy + at, winner + at);
      V g = dz;
      if (s.relu) g = hn::IfThenElseZero(hn::Gt(hn::LoadU(d, y + at), hn::Zero(d)), g);
      if (channel == 0) bias = hn::Add(bias, g);
      // Winners 0 to 3 begin at floats 0, 1, 8 and 9 of the two rows.
      const auto first = hn::Add(hn::And(won, hn::Set(integers, 1)),
                                 hn::ShiftLeft<2>(hn::And(won, hn::Set(integers, 2))));
      const float* x = plane + 2 * i * row + 2 * j;
      HWY_UNROLL(8)
      for (int k = 0; k < kSize; ++k) {
        const V rows =
            hn::Combine(d, hn::LoadU(half, x + (k + 1) * row), hn::LoadU(half, x + k * row));
        HWY_UNROLL(8)
        for (int t = 0; t < kSize; ++t) {
          const auto pixel = hn::IndicesFromVec(d, hn::Add(first, hn::Set(integers, t)));
          sums[k][t] = hn::MulAdd(g, hn::TableLookupLanes(rows, pixel), sums[k][t]);
        }
      }
    }
  }
  for (int k = 0; k < kSize; ++k) {
    for (int t = 0; t < kSize; ++t) hn::StoreU(sums[k][t], d, tap(k, t));
  }
  hn::StoreU(bias, d, db + c0);
}

/// Returns whether backward_planes() takes the kernel.
HWY_INLINE bool takes_planes(const ConvPoolSample& s, std::int64_t size) {
  return s.kernel_h == size && s.kernel_row == size * s.channels && s.out_channels % 16 == 0;
}

template <int kSize>
void backward_planes(const ConvPoolSample& sample, const float* image, const float* dy,
                     const float* y, const std::uint8_t* winner, float* dw, float* db,
                     float* scratch) {
  const ConvPoolSample s = sample;  // which stores cannot change
  const std::int64_t row = s.row / s.channels;
  const std::int64_t pixels = (2 * s.pooled_h + kSize - 1) * row;
  if (s.channels > 1) to_planes(image, pixels, s.channels, scratch);
  const float* planes = s.channels > 1 ? scratch : image;
  for (std::int64_t c = 0; c < s.out_channels; c += 16) {
    for (std::int64_t channel = 0; channel < s.channels; ++channel) {
      backward_plane<kSize>(LongTag(), s, c, channel, planes + channel * pixels, row, dy, y, winner,
                            dw, db);
    }
  }
}
#endif

/// A 3x3 kernel, whose sums are in registers together.
void backward(const ConvPoolSample& s, const float* image, const float* dy, const float* y,
              const std::uint8_t* winner, float* dw, float* db) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t c = 0;
#if LINNET_LONG_VECTORS
  for (; s.channels == 1 && c + 16 <= s.out_channels; c += 16) {
    backward_3x3(LongTag(), s, c, image, dy, y, winner, dw, db);
  }
#endif
  for (; c < s.out_channels; c += lanes) {
    backward_channels<3, 3>(d, s, c, image, dy, y, winner, dw, db);
  }
}

void PutInside(const float* x, std::int64_t rows, std::int64_t width, float* to,
               std::int64_t to_row) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t i = 0; i < rows; ++i, x += width, to += to_row) {
    if (width < lanes) {
      std::copy_n(x, width, to);
      continue;
    }
    for (std::int64_t j = 0; j < width; j += lanes) {  // the last one may overlap the one before
      const std::int64_t at = std::min(j, width - lanes);
      hn::StoreU(hn::LoadU(d, x + at), d, to + at);
    }
  }
}

void Forward(const ConvPoolSample& s, const float* image, const float* w, const float* b, float* y,
             std::uint8_t* winner) {
  const auto is = [&](std::int64_t rows, std::int64_t row) {
    return s.kernel_h == rows && s.kernel_row == row;
  };
  if (is(3, 3)) return forward<3, 3>(s, image, w, b, y, winner);
  if (is(3, 9)) return forward<3, 9>(s, image, w, b, y, winner);
  if (is(5, 5)) return forward<5, 5>(s, image, w, b, y, winner);
  if (is(5, 15)) return forward<5, 15>(s, image, w, b, y, winner);
}

void Backward(const ConvPoolSample& s, const float* image, const float* dy, const float* y,
              const std::uint8_t* winner, float* dw, float* db, float* scratch) {
  const auto is = [&](std::int64_t rows, std::int64_t row) {
    return s.kernel_h == rows && s.kernel_row == row;
  };
#if LINNET_LONG_VECTORS
  if (s.channels > 1 && takes_planes(s, 3)) {
    return backward_planes<3>(s, image, dy, y, winner, dw, db, scratch);
  }
  if (takes_planes(s, 5)) {
    return backward_planes<5>(s, image, dy, y, winner, dw, db, scratch);
  }
#else
  (void)scratch;
#endif
  if (is(3, 3)) return backward(s, image, dy, y, winner, dw, db);
  if (is(3, 9)) return backward_winners<3, 9>(s, image, dy, y, winner, dw, db);
  if (is(5, 5)) return backward_winners<5, 5>(s, image, dy, y, winner, dw, db);
  if (is(5, 15)) return backward_winners<5, 15>(s, image, dy, y, winner, dw, db);
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(PutInside);
HWY_EXPORT(Forward);
HWY_EXPORT(Backward);

bool conv_pool_has(std::int64_t kernel_h, std::int64_t kernel_row) {
  return (kernel_h == 3 && (kernel_row == 3 || kernel_row == 9)) ||
         (kernel_h == 5 && (kernel_row == 5 || kernel_row == 15));
}

void put_inside(const float* x, std::int64_t rows, std::int64_t width, float* to,
                std::int64_t to_row) {
  HWY_DYNAMIC_DISPATCH(PutInside)(x, rows, width, to, to_row);
}

void conv_pool_forward(const ConvPoolSample& sample, const float* image, const float* w,
                       const float* b, float* y, std::uint8_t* winner) {
  HWY_DYNAMIC_DISPATCH(Forward)(sample, image, w, b, y, winner);
}

void conv_pool_backward(const ConvPoolSample& sample, const float* image, const float* dy,
                        const float* y, const std::uint8_t* winner, float* dw, float* db,
                        float* scratch) {
  HWY_DYNAMIC_DISPATCH(Backward)(sample, image, dy, y, winner, dw, db, scratch);
}

}  // namespace linnet::cpu
#endif
