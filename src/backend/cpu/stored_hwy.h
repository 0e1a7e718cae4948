// SPDX-License-Identifier: Apache-2.0
// Included once per instruction set, after hwy/foreach_target.h, by sources that Highway compiles
// so: what #pragma once would prevent.
#if defined(LINNET_STORED_HWY_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LINNET_STORED_HWY_H
#undef LINNET_STORED_HWY_H
#else
#define LINNET_STORED_HWY_H
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns the bits of x, rounded to bfloat16 in the upper halves; the lower halves are left as
/// they come out.
template <class D>
HWY_INLINE auto rounded_bits(D d, hn::Vec<D> x) {
  const hn::RebindToUnsigned<D> integers;
  const auto bits = hn::BitCast(integers, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(integers, 1));
  const auto nearest = hn::Add(hn::Add(bits, hn::Set(integers, 0x7FFF)), odd);
  // The sum would carry a NaN into infinity or zero: it is cut, and stays quiet.
  const auto quiet = hn::Or(bits, hn::Set(integers, 0x400000));
  (void)d;
  return hn::IfThenElse(hn::RebindMask(integers, hn::IsNaN(x)), quiet, nearest);
}

template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const std::uint16_t* from) {
  const hn::Rebind<std::uint16_t, D> halves;
  const hn::RebindToUnsigned<D> integers;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(integers, hn::LoadU(halves, from))));
}

template <class D>
HWY_INLINE void store_floats(hn::Vec<D> x, D d, float* to) {
  hn::StoreU(x, d, to);
}
template <class D>
HWY_INLINE void store_floats(hn::Vec<D> x, D d, std::uint16_t* to) {
  const hn::Rebind<std::uint16_t, D> halves;
  const hn::RebindToSigned<D> integers;
  const auto low = hn::BitCast(integers, hn::ShiftRight<16>(rounded_bits(d, x)));
  hn::StoreU(hn::DemoteTo(halves, low), halves, to);
}

/// Calls f(0) where values are stored in bfloat16: processors with AVX512_BF16 run what is compiled
/// for AVX-512. f takes any type, so that nothing of it is compiled for others.
template <class F>
void where_stored(F&& f) {
  if constexpr (HWY_TARGET <= HWY_AVX3) f(0);
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#endif
