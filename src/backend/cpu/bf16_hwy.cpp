// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/bf16_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/bf16.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<float> kFloats;
const hn::RebindToUnsigned<decltype(kFloats)> kBits;
using Floats = hn::Vec<decltype(kFloats)>;
using Bits = hn::Vec<decltype(kBits)>;

/// Returns the bits of x, rounded in the upper halves; the lower halves are left as they come out.
HWY_INLINE Bits rounded(Floats x) {
  const Bits bits = hn::BitCast(kBits, x);
  const Bits odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(kBits, 1));
  const Bits nearest = hn::Add(hn::Add(bits, hn::Set(kBits, 0x7FFF)), odd);
  // The sum would carry a NaN into infinity or zero: it is cut, and stays quiet.
  const Bits quiet = hn::Or(bits, hn::Set(kBits, 0x400000));
  return hn::IfThenElse(hn::RebindMask(kBits, hn::IsNaN(x)), quiet, nearest);
}

HWY_INLINE void round_vector(const float* from, float* to) {
  const Bits upper = hn::And(rounded(hn::LoadU(kFloats, from)), hn::Set(kBits, 0xFFFF0000U));
  hn::StoreU(hn::BitCast(kFloats, upper), kFloats, to);
}

HWY_INLINE void round_vector(const float* from, std::uint16_t* to) {
  const hn::RebindToSigned<decltype(kFloats)> integers;
  const hn::Rebind<std::uint16_t, decltype(kFloats)> halves;
  const Bits low = hn::ShiftRight<16>(rounded(hn::LoadU(kFloats, from)));
  hn::StoreU(hn::DemoteTo(halves, hn::BitCast(integers, low)), halves, to);
}

template <class T>
void pass(const float* from, std::int64_t count, T* to) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kFloats));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) round_vector(from + i, to + i);
  if (i == count) return;
  HWY_ALIGN float rest[hn::MaxLanes(kFloats)] = {};
  HWY_ALIGN T result[hn::MaxLanes(kFloats)];
  std::copy(from + i, from + count, rest);
  round_vector(rest, result);
  std::copy_n(result, count - i, to + i);
}

void ToFloats(const float* from, std::int64_t count, float* to) { pass(from, count, to); }
void ToHalves(const float* from, std::int64_t count, std::uint16_t* to) { pass(from, count, to); }

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(ToFloats);
HWY_EXPORT(ToHalves);

void round_to_bf16(const float* from, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(ToFloats)(from, count, to);
}

void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to) {
  HWY_DYNAMIC_DISPATCH(ToHalves)(from, count, to);
}

}  // namespace linnet::cpu
#endif
