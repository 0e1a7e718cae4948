// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fusions/attention/attention_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/elements_hwy.h"
#include "backend/cpu/vector_math_hwy.h"
#include "fusions/attention/attention_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

/// What is dropped is 0, even infinities.
template <class At, class V>
HWY_INLINE V times_factor(At at, const float* factor, V x) {
  const auto f = at.load(factor);
  return hn::IfThenElseZero(hn::Ne(f, hn::Zero(at.d)), hn::Mul(f, x));
}

template <bool kDrops>
HWY_INLINE void slopes_of(const float* sums, const float* dots, const float* factors,
                          std::int64_t n, float* weights, float* slopes) {
  for_row_vectors(1, n, [=](auto at, std::int64_t /*row*/, std::int64_t i) HWY_ATTR {
    const auto p = vm::exp(at.d, hn::Sub(at.load(weights + i), at.load(sums + i)));
    auto weight = p;
    auto reached = at.load(slopes + i);
    if constexpr (kDrops) {
      weight = times_factor(at, factors + i, weight);
      reached = times_factor(at, factors + i, reached);
    }
    at.store(weight, weights + i);
    at.store(hn::Mul(p, hn::Sub(reached, at.load(dots + i))), slopes + i);
  });
}

void AttentionSlopes(const float* sums, const float* dots, const float* factors, std::int64_t n,
                     float* weights, float* slopes) {
  if (factors == nullptr) return slopes_of<false>(sums, dots, factors, n, weights, slopes);
  slopes_of<true>(sums, dots, factors, n, weights, slopes);
}

float AttentionDot(const float* a, const float* b, std::int64_t n) {
  return sum_of_elements(n, [=](auto at, std::int64_t i)
                                HWY_ATTR { return hn::Mul(at.load(a + i), at.load(b + i)); });
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(AttentionSlopes);
HWY_EXPORT(AttentionDot);

void attention_slopes(const float* sums, const float* dots, const float* factors, std::int64_t n,
                      float* weights, float* slopes) {
  HWY_DYNAMIC_DISPATCH(AttentionSlopes)(sums, dots, factors, n, weights, slopes);
}

float attention_dot(const float* a, const float* b, std::int64_t n) {
  return HWY_DYNAMIC_DISPATCH(AttentionDot)(a, b, n);
}

}  // namespace linnet::cpu
#endif
