// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. Loops for images
// of many channels, which exist for vectors of 16: a window's gradient reaches its winner alone, so
// gradients have a quarter of the products that the convolution by itself would have.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fusions/conv2d_pool/wide_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "fusions/conv2d_pool/conv2d_pool_cpu.h"
#include "fusions/conv2d_pool/windows_hwy.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if LINNET_LONG_VECTORS

constexpr int kSize = 5;  ///< of the kernel
constexpr int kTaps = kSize * kSize;
using V = hn::Vec<LongTag>;

/// Returns two neighbouring channels of a pixel for each of eight filters.
HWY_INLINE V both(const float* x) {
  const hn::Repartition<double, LongTag> pairs;
  double pair = 0;
  hwy::CopyBytes<sizeof(pair)>(x, &pair);
  return hn::BitCast(LongTag(), hn::Set(pairs, pair));
}

/// The pixels of a row that kWindows windows cover, two channels of each.
template <int kWindows>
using Pixels = V[2 * kWindows + kSize - 1];

template <int kWindows>
HWY_INLINE void load_pixels(const float* x, std::int64_t channels, Pixels<kWindows>& pixels) {
  for (V& pixel : pixels) {
    pixel = both(x);
    x += channels;
  }
}

/// Adds to the upper or the lower results what a tap multiplies.
template <int kWindows, bool kLower>
HWY_INLINE void add_tap(const Pixels<kWindows>& pixels, int tap, const float* weights,
                        V (&sums)[kWindows][4]) {
  const V weight = hn::LoadU(LongTag(), weights);
  for (int n = 0; n < kWindows; ++n) {
    V* sum = sums[n] + 2 * kLower;
    sum[0] = hn::MulAdd(pixels[2 * n + tap], weight, sum[0]);
    sum[1] = hn::MulAdd(pixels[2 * n + tap + 1], weight, sum[1]);
  }
}

/// Adds what one row of an image gives to upper results by the weights at w, and to lower ones by
/// the row of weights before.
template <int kWindows>
HWY_INLINE void add_row(const ConvPoolSample& s, const float* x, const float* w,
                        V (&sums)[kWindows][4]) {
  const std::int64_t tap = 8 * s.channels;  // floats of a tap's weights
  HWY_UNROLL(1)
  for (std::int64_t c = 0; c < s.channels; c += 2, x += 2, w += 16) {
    Pixels<kWindows> pixels;
    load_pixels<kWindows>(x, s.channels, pixels);
    HWY_UNROLL(8)
    for (int t = 0; t < kSize; ++t) {
      add_tap<kWindows, false>(pixels, t, w + t * tap, sums);
      add_tap<kWindows, true>(pixels, t, w + (t - kSize) * tap, sums);
    }
  }
}

/// Adds the first row to upper results and the last one to lower results: in one loop, since half
/// of the sums alone would not hide the latency of an addition.
template <int kWindows>
HWY_INLINE void add_ends(const ConvPoolSample& s, const float* x, const float* w,
                         V (&sums)[kWindows][4]) {
  const std::int64_t tap = 8 * s.channels;
  const float* last = w + (kSize - 1) * kSize * tap;
  HWY_UNROLL(1)
  for (std::int64_t c = 0; c < s.channels; c += 2, x += 2, w += 16, last += 16) {
    Pixels<kWindows> pixels;
    load_pixels<kWindows>(x, s.channels, pixels);
    HWY_UNROLL(8)
    for (int t = 0; t < kSize; ++t) add_tap<kWindows, false>(pixels, t, w + t * tap, sums);
    load_pixels<kWindows>(x + kSize * s.row, s.channels, pixels);
    HWY_UNROLL(8)
    for (int t = 0; t < kSize; ++t) add_tap<kWindows, true>(pixels, t, last + t * tap, sums);
  }
}

/// Eight filters, whose weights begin at w and whose first one is c0, of kWindows pooled pixels
/// side by side, from pixel `at` of y on.
template <int kWindows>
HWY_INLINE void wide_windows(const ConvPoolSample& s, std::int64_t c0, const float* x,
                             const float* w, V bias, std::int64_t at, float* y,
                             std::uint8_t* winner) {
  const LongTag d;
  const Tag half;
  V sums[kWindows][4];
  for (auto& window : sums) {
    for (V& sum : window) sum = bias;
  }
  const std::int64_t row = kSize * 8 * s.channels;
  add_ends(s, x, w, sums);
  HWY_UNROLL(1)
  for (int k = 1; k < kSize; ++k) add_row(s, x + k * s.row, w + k * row, sums);
  for (int n = 0; n < kWindows; ++n) {
    const auto added = [&](V left, V right) HWY_ATTR {
      return hn::Add(hn::ConcatEven(d, right, left), hn::ConcatOdd(d, right, left));
    };
    const V top = added(sums[n][0], sums[n][1]);
    const V bottom = added(sums[n][2], sums[n][3]);
    const hn::Vec<Tag> results[4] = {hn::LowerHalf(half, top), hn::UpperHalf(half, top),
                                     hn::LowerHalf(half, bottom), hn::UpperHalf(half, bottom)};
    const std::int64_t to = (at + n) * s.out_channels + c0;
    store_window(half, s.relu, results, y + to, winner + to);
  }
}

/// Calls f(a filter, its windows' patches, their number) for parts of all windows; adds gradients
/// to db (C_out), unless it is null.
template <class F>
HWY_INLINE void for_won(const ConvPoolSample& s, const float* dy, const float* y,
                        const std::uint8_t* winner, float* db, F f) {
  const Tag d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));
  WonPatch list[kLanes][kListed];
  HWY_ALIGN std::int32_t counts[kLanes];
  const std::int64_t windows = s.pooled_h * s.pooled_w;
  for (std::int64_t c = 0; c < s.out_channels; c += kLanes) {
    auto bias = hn::Zero(d);
    for (std::int64_t begin = 0; begin < windows; begin += kListed) {
      list_won(d, s, c, begin, std::min(begin + kListed, windows), dy, y, winner, list, counts,
               bias);
      for (int lane = 0; lane < kLanes; ++lane) f(c + lane, list[lane], counts[lane]);
    }
    if (db != nullptr) hn::StoreU(hn::Add(hn::LoadU(d, db + c), bias), d, db + c);
  }
}

bool HasWide(std::int64_t kernel_h, std::int64_t kernel_w, std::int64_t channels) {
  return kernel_h == kSize && kernel_w == kSize && channels % 16 == 0;
}

void WideForward(const ConvPoolSample& sample, const float* image, const float* w, const float* b,
                 float* y, std::uint8_t* winner) {
  const ConvPoolSample s = sample;  // which stores of winners cannot change
  for (std::int64_t c = 0; c < s.out_channels; c += 8) {
    const float* weights = w + c * kTaps * s.channels;
    const V bias = hn::LoadU(LongTag(), b + 2 * c);
    for (std::int64_t i = 0; i < s.pooled_h; ++i) {
      const float* x = image + 2 * i * s.row;
      std::int64_t at = i * s.pooled_w;
      for_windows(s.pooled_w, [&](auto count) HWY_ATTR {
        wide_windows<count()>(s, c, x, weights, bias, at, y, winner);
        at += count();
        x += 2 * count() * s.channels;
      });
    }
  }
}

void WideBackward(const ConvPoolSample& sample, const float* image, const float* dy, const float* y,
                  const std::uint8_t* winner, float* dw, float* db) {
  const ConvPoolSample s = sample;
  const LongTag d;
  for_won(s, dy, y, winner, db, [&](std::int64_t filter, const WonPatch* list, int count) HWY_ATTR {
    for (std::int64_t c = 0; c < s.channels; c += 16) {
      float* to = dw + filter * kTaps * s.channels + c;
      V sums[kTaps];
      for (int t = 0; t < kTaps; ++t) sums[t] = hn::LoadU(d, to + t * s.channels);
      for (int i = 0; i < count; ++i) {
        const float* x = image + list[i].at + c;
        const V gradient = hn::Set(d, list[i].gradient);
        HWY_UNROLL(8)
        for (int k = 0; k < kSize; ++k, x += s.row) {
          HWY_UNROLL(8)
          for (int t = 0; t < kSize; ++t) {
            V& sum = sums[k * kSize + t];
            sum = hn::MulAdd(gradient, hn::LoadU(d, x + t * s.channels), sum);
          }
        }
      }
      for (int t = 0; t < kTaps; ++t) hn::StoreU(sums[t], d, to + t * s.channels);
    }
  });
}

void WideInput(const ConvPoolSample& sample, const float* w, const float* dy, const float* y,
               const std::uint8_t* winner, float* dx) {
  const ConvPoolSample s = sample;
  const LongTag d;
  for_won(s, dy, y, winner, nullptr,
          [&](std::int64_t filter, const WonPatch* list, int count) HWY_ATTR {
            for (std::int64_t c = 0; c < s.channels; c += 16) {
              const float* from = w + filter * kTaps * s.channels + c;
              V weights[kTaps];
              for (int t = 0; t < kTaps; ++t) weights[t] = hn::LoadU(d, from + t * s.channels);
              for (int i = 0; i < count; ++i) {
                float* to = dx + list[i].at + c;
                const V gradient = hn::Set(d, list[i].gradient);
                HWY_UNROLL(8)
                for (int k = 0; k < kSize; ++k, to += s.row) {
                  HWY_UNROLL(8)
                  for (int t = 0; t < kSize; ++t) {
                    float* pixel = to + t * s.channels;
                    hn::StoreU(hn::MulAdd(gradient, weights[k * kSize + t], hn::LoadU(d, pixel)), d,
                               pixel);
                  }
                }
              }
            }
          });
}

#else

bool HasWide(std::int64_t, std::int64_t, std::int64_t) { return false; }
void WideForward(const ConvPoolSample&, const float*, const float*, const float*, float*,
                 std::uint8_t*) {}
void WideBackward(const ConvPoolSample&, const float*, const float*, const float*,
                  const std::uint8_t*, float*, float*) {}
void WideInput(const ConvPoolSample&, const float*, const float*, const float*, const std::uint8_t*,
               float*) {}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(HasWide);
HWY_EXPORT(WideForward);
HWY_EXPORT(WideBackward);
HWY_EXPORT(WideInput);

bool wide_conv_pool_has(std::int64_t kernel_h, std::int64_t kernel_w, std::int64_t channels) {
  return HWY_DYNAMIC_DISPATCH(HasWide)(kernel_h, kernel_w, channels);
}

void wide_conv_pool_forward(const ConvPoolSample& sample, const float* image, const float* w,
                            const float* b, float* y, std::uint8_t* winner) {
  HWY_DYNAMIC_DISPATCH(WideForward)(sample, image, w, b, y, winner);
}

void wide_conv_pool_backward(const ConvPoolSample& sample, const float* image, const float* dy,
                             const float* y, const std::uint8_t* winner, float* dw, float* db) {
  HWY_DYNAMIC_DISPATCH(WideBackward)(sample, image, dy, y, winner, dw, db);
}

void wide_conv_pool_input(const ConvPoolSample& sample, const float* w, const float* dy,
                          const float* y, const std::uint8_t* winner, float* dx) {
  HWY_DYNAMIC_DISPATCH(WideInput)(sample, w, dy, y, winner, dx);
}

}  // namespace linnet::cpu
#endif
