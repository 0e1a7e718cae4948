// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/bf16_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/bf16.h"
#include "backend/cpu/stored.h"
#include "backend/cpu/stored_hwy.h"
#include "core/half.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
const hn::ScalableTag<float> kFloats;

HWY_INLINE void round_vector(const float* from, float* to) {
  const hn::RebindToUnsigned<decltype(kFloats)> bits;
  const auto upper =
      hn::And(rounded_bits(kFloats, hn::LoadU(kFloats, from)), hn::Set(bits, 0xFFFF0000U));
  hn::StoreU(hn::BitCast(kFloats, upper), kFloats, to);
}

HWY_INLINE void round_vector(const float* from, std::uint16_t* to) {
  store_floats(hn::LoadU(kFloats, from), kFloats, to);
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

void Widen(const std::uint16_t* from, std::int64_t count, float* to) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kFloats));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(load_floats(kFloats, from + i), kFloats, to + i);
  }
  for (; i < count; ++i) to[i] = float_of_bf16(from[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(ToFloats);
HWY_EXPORT(ToHalves);
HWY_EXPORT(Widen);

void round_to_bf16(const float* from, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(ToFloats)(from, count, to);
}

void round_to_bf16(const float* from, std::int64_t count, std::uint16_t* to) {
  HWY_DYNAMIC_DISPATCH(ToHalves)(from, count, to);
}

void widen_bf16(const std::uint16_t* from, std::int64_t count, float* to) {
  HWY_DYNAMIC_DISPATCH(Widen)(from, count, to);
}

}  // namespace linnet::cpu
#endif
