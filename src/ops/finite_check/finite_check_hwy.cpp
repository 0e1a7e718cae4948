// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/finite_check/finite_check_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/finite_check/finite_check_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// x * 0 is NaN for infinities and NaNs, and ±0 for all other numbers: so is their sum.
bool AllFinite(const float* x, std::int64_t count) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto zero = hn::Zero(d);
  auto a = zero;
  auto b = zero;
  std::int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    a = hn::MulAdd(hn::LoadU(d, x + i), zero, a);
    b = hn::MulAdd(hn::LoadU(d, x + i + lanes), zero, b);
  }
  bool finite = hn::AllTrue(d, hn::Eq(hn::Add(a, b), zero));
  for (; i < count; ++i) finite = finite && x[i] * 0.0F == 0.0F;
  return finite;
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(AllFinite);

bool all_finite(const float* x, std::int64_t count) {
  return HWY_DYNAMIC_DISPATCH(AllFinite)(x, count);
}

}  // namespace linnet::cpu
#endif
