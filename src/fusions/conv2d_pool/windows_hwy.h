// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set, after hwy/foreach_target.h, by sources that Highway compiles
// so: what #pragma once would prevent.
#if defined(LINNET_POOL_WINDOWS_HWY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LINNET_POOL_WINDOWS_HWY_H
#undef LINNET_POOL_WINDOWS_HWY_H
#else
#define LINNET_POOL_WINDOWS_HWY_H
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "fusions/conv2d_pool/conv2d_pool_cpu.h"
#include "ops/pool2d/winner_hwy.h"

#undef LINNET_LONG_VECTORS
#if HWY_TARGET <= HWY_AVX3
/// Vectors of 16 have loops of their own.
#define LINNET_LONG_VECTORS 1
#else
#define LINNET_LONG_VECTORS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if LINNET_LONG_VECTORS
using LongTag = hn::CappedTag<float, 16>;
#endif
/// Vectors of 8 at most: what every multiple of 8 channels is made of.
using Tag = hn::CappedTag<float, 8>;

/// The largest of a window's four sums and which it is, the first of equal ones.
template <class D, class V, class I>
HWY_INLINE void largest(D d, V z0, V z1, V z2, V z3, V& best, I& winner) {
  const hn::RebindToUnsigned<D> integers;
  const V total = hn::Add(hn::Add(z0, z1), hn::Add(z2, z3));
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Eq(total, total)))) {  // a NaN, or infinities of both signs
    best = z0;
    winner = hn::Zero(integers);
    compete(d, z1, 1, best, winner);
    compete(d, z2, 2, best, winner);
    compete(d, z3, 3, best, winner);
    return;
  }
  const V top = hn::Max(z0, z1);
  const V bottom = hn::Max(z2, z3);
#if LINNET_LONG_VECTORS
  const I right_of_top =
      hn::IfThenElseZero(hn::RebindMask(integers, hn::Gt(z1, z0)), hn::Set(integers, 1));
  const I right_of_bottom = hn::IfThenElse(hn::RebindMask(integers, hn::Gt(z3, z2)),
                                           hn::Set(integers, 3), hn::Set(integers, 2));
  winner =
      hn::IfThenElse(hn::RebindMask(integers, hn::Gt(bottom, top)), right_of_bottom, right_of_top);
#else
  // A true mask is -1, all ones: what is subtracted from 0 and from 2 is 1.
  const I right_of_top = hn::BitCast(integers, hn::VecFromMask(d, hn::Gt(z1, z0)));
  const I right_of_bottom = hn::BitCast(integers, hn::VecFromMask(d, hn::Gt(z3, z2)));
  winner = hn::IfThenElse(hn::RebindMask(integers, hn::Gt(bottom, top)),
                          hn::Sub(hn::Set(integers, 2), right_of_bottom),
                          hn::Sub(hn::Zero(integers), right_of_top));
#endif
  best = hn::Max(top, bottom);
}

/// Stores a window's largest sum and which it is, after the activation.
template <class D>
HWY_INLINE void store_window(D d, bool relu, const hn::Vec<D> (&sums)[4], float* y,
                             std::uint8_t* winner) {
  const hn::RebindToUnsigned<D> integers;
  const hn::Rebind<std::uint8_t, D> bytes;
  hn::Vec<D> best;
  hn::Vec<decltype(integers)> index;
  largest(d, sums[0], sums[1], sums[2], sums[3], best, index);
  if (relu) {
    // Where nothing is positive the activated window is all zeros, and its first one wins.
    const auto none = hn::Le(best, hn::Zero(d));
    best = hn::IfThenZeroElse(none, best);
    index = hn::IfThenZeroElse(hn::RebindMask(integers, none), index);
  }
  hn::StoreU(best, d, y);
  hn::StoreU(hn::TruncateTo(bytes, index), bytes, winner);
}

#if LINNET_LONG_VECTORS
/// Calls f(how many, a constant) for windows side by side: three at once, whose 12 sums hide the
/// latency of an addition, but two by two what would leave a single one.
template <class F>
HWY_INLINE void for_windows(std::int64_t windows, F f) {
  for (; windows > 4 || windows == 3; windows -= 3) f(std::integral_constant<int, 3>());
  for (; windows >= 2; windows -= 2) f(std::integral_constant<int, 2>());
  if (windows == 1) f(std::integral_constant<int, 1>());
}
#endif

/// Windows that are listed at once, for each channel of a vector.
constexpr std::int64_t kListed = 128;

/// The first float of the image that a window's winner multiplied, and the window's gradient.
struct WonPatch {
  std::int32_t at;
  float gradient;
};

/// Lists windows [begin, end) whose gradient is not 0, for every channel [c, c + lanes), and adds
/// their gradients to `bias`. `counts`: how many there are by channel. Windows without a gradient
/// are overwritten by the next one: a branch on them could not be predicted.
template <class D>
HWY_INLINE void list_won(D d, const ConvPoolSample& s, std::int64_t c, std::int64_t begin,
                         std::int64_t end, const float* dy, const float* y,
                         const std::uint8_t* winner, WonPatch (*list)[kListed],
                         std::int32_t* counts, hn::Vec<D>& bias) {
  const hn::RebindToSigned<D> integers;
  const auto lanes = static_cast<int>(hn::Lanes(d));
  const auto one = hn::Set(integers, 1);
  const auto right = hn::Set(integers, static_cast<std::int32_t>(s.channels));
  const auto below = hn::Set(integers, static_cast<std::int32_t>(s.row));
  HWY_ALIGN WonPatch made[hn::MaxLanes(D())];
  auto count = hn::Zero(integers);
  hn::StoreU(count, integers, counts);
  std::int64_t i = begin / s.pooled_w;
  std::int64_t j = begin % s.pooled_w;
  for (std::int64_t window = begin; window < end; ++window) {
    const std::int64_t from = window * s.out_channels + c;
    const auto [dz, won] = load_won(d, dy + from, winner + from);
    auto g = dz;
    if (s.relu) g = hn::IfThenElseZero(hn::Gt(hn::LoadU(d, y + from), hn::Zero(d)), g);
    bias = hn::Add(bias, g);
    const auto corner =
        hn::Set(integers, static_cast<std::int32_t>(2 * i * s.row + 2 * j * s.channels));
    const auto aside = hn::Add(hn::Mul(hn::And(won, one), right), corner);
    const auto at = hn::Add(hn::Mul(hn::ShiftRight<1>(won), below), aside);
    hn::StoreInterleaved2(hn::BitCast(d, at), g, d, reinterpret_cast<float*>(made));
    for (int lane = 0; lane < lanes; ++lane) list[lane][counts[lane]] = made[lane];
    const auto counted = hn::RebindMask(integers, hn::Ne(g, hn::Zero(d)));
    count = hn::Add(count, hn::IfThenElseZero(counted, one));
    hn::StoreU(count, integers, counts);
    if (++j == s.pooled_w) {
      j = 0;
      ++i;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#endif
