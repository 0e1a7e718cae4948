// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set, after hwy/foreach_target.h, by sources that Highway compiles
// so: what #pragma once would prevent.
#if defined(LINNET_WINNER_HWY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LINNET_WINNER_HWY_H
#undef LINNET_WINNER_HWY_H
#else
#define LINNET_WINNER_HWY_H
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// wins() of winner.h for vectors: `pixels` at the window's position `index` compete with the best
/// ones so far. `winner`: unsigned integers as wide as D's floats.
template <class D, class V, class I>
HWY_INLINE void compete(D /*d*/, V pixels, std::uint32_t index, V& best, I& winner) {
  const hn::RebindToUnsigned<D> integers;
  // Not "less or equal" is greater or unordered; where the best one is a NaN already, it stays.
  const auto better = hn::AndNot(hn::Le(pixels, best), hn::Eq(best, best));
  best = hn::IfThenElse(better, pixels, best);
  winner = hn::IfThenElse(hn::RebindMask(integers, better), hn::Set(integers, index), winner);
}

template <class D, class I>
HWY_INLINE void store_winner(D /*d*/, I winner, std::uint8_t* to) {
  const hn::Rebind<std::uint8_t, D> bytes;
  hn::StoreU(hn::TruncateTo(bytes, winner), bytes, to);
}
template <class D, class I>
HWY_INLINE void store_winner(D /*d*/, I winner, std::int32_t* to) {
  const hn::RebindToSigned<D> integers;
  hn::StoreU(hn::BitCast(integers, winner), integers, to);
}

/// Gradients of windows and the positions that won them.
template <class D>
struct Won {
  hn::Vec<D> gradient;
  hn::Vec<hn::RebindToSigned<D>> winner;
};

template <class D>
HWY_INLINE Won<D> load_won(D d, const float* gradient, const std::uint8_t* winner) {
  const hn::RebindToSigned<D> integers;
  const hn::Rebind<std::uint8_t, D> bytes;
  return {hn::LoadU(d, gradient), hn::PromoteTo(integers, hn::LoadU(bytes, winner))};
}
template <class D>
HWY_INLINE Won<D> load_won(D d, const float* gradient, const std::int32_t* winner) {
  const hn::RebindToSigned<D> integers;
  return {hn::LoadU(d, gradient), hn::LoadU(integers, winner)};
}

/// Returns the gradients of the windows that `position` won, 0 in the other lanes.
template <class D>
HWY_INLINE hn::Vec<D> won_by(D d, const Won<D>& won, std::int32_t position) {
  const hn::RebindToSigned<D> integers;
  const auto lanes = hn::Eq(won.winner, hn::Set(integers, position));
  return hn::IfThenElseZero(hn::RebindMask(d, lanes), won.gradient);
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#endif
