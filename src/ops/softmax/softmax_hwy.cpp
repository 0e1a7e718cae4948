// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/softmax/softmax_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "backend/cpu/elements_hwy.h"
#include "backend/cpu/vector_math_hwy.h"
#include "ops/softmax/row_softmax_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

/// The largest of a row, which is not told where it has a NaN.
HWY_INLINE float largest(const float* x, std::int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  const auto top = fold_elements(
      n, lowest, [=](auto at, std::int64_t i) HWY_ATTR { return at.load(x + i); },
      [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
  return hn::GetLane(hn::MaxOfLanes(d, top));
}

/// e^(x[i] - top)
template <class At>
HWY_INLINE auto power(At at, const float* x, float top) {
  return vm::exp(at.d, hn::Sub(at.load(x), hn::Set(at.d, top)));
}

/// y = e^(x - top); returns the sum.
HWY_INLINE float powers(const float* x, std::int64_t n, float top, float* y) {
  return sum_of_elements(n, [=](auto at, std::int64_t i) HWY_ATTR {
    const auto e = power(at, x + i, top);
    at.store(e, y + i);
    return e;
  });
}

RowPowers PowerRow(const float* x, std::int64_t n, float* y) {
  const float top = largest(x, n);
  return {top, powers(x, n, top, y)};
}

float SoftmaxRow(const float* x, std::int64_t n, float* y) {
  const auto [top, sum] = PowerRow(x, n, y);
  const float factor = 1.0F / sum;
  for_row_vectors(1, n, [=](auto at, std::int64_t /*row*/, std::int64_t i) HWY_ATTR {
    at.store(hn::Mul(at.load(y + i), hn::Set(at.d, factor)), y + i);
  });
  return top + std::log(sum);
}

void SoftmaxRows(const float* x, std::int64_t rows, std::int64_t n, float* y) {
  for (std::int64_t r = 0; r < rows; ++r) SoftmaxRow(x + r * n, n, y + r * n);
}

void SoftmaxRowsGradient(const float* dy, const float* y, std::int64_t rows, std::int64_t n,
                         float* dx) {
  for (std::int64_t r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    const float dot = sum_of_elements(n, [=](auto at, std::int64_t i) HWY_ATTR {
      return hn::Mul(at.load(dy + i), at.load(y + i));
    });
    for_row_vectors(1, n, [=](auto at, std::int64_t /*row*/, std::int64_t i) HWY_ATTR {
      const auto off = hn::Sub(at.load(dy + i), hn::Set(at.d, dot));
      at.store(hn::Mul(at.load(y + i), off), dx + i);
    });
  }
}

void LogSoftmaxRows(const float* x, std::int64_t rows, std::int64_t n, float* y) {
  for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const float top = largest(x, n);
    const float sum =
        sum_of_elements(n, [=](auto at, std::int64_t i) HWY_ATTR { return power(at, x + i, top); });
    const float total = std::log(sum);
    // Two subtractions, since log_sum_exp would round the small differences away.
    for_row_vectors(1, n, [=](auto at, std::int64_t /*row*/, std::int64_t i) HWY_ATTR {
      const auto below = hn::Sub(at.load(x + i), hn::Set(at.d, top));
      at.store(hn::Sub(below, hn::Set(at.d, total)), y + i);
    });
  }
}

void LogSoftmaxRowsGradient(const float* dy, const float* y, std::int64_t rows, std::int64_t n,
                            float* dx) {
  for (std::int64_t r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    const float sum =
        sum_of_elements(n, [=](auto at, std::int64_t i) HWY_ATTR { return at.load(dy + i); });
    for_row_vectors(1, n, [=](auto at, std::int64_t /*row*/, std::int64_t i) HWY_ATTR {
      const auto e = vm::exp(at.d, at.load(y + i));
      at.store(hn::NegMulAdd(e, hn::Set(at.d, sum), at.load(dy + i)), dx + i);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(PowerRow);
HWY_EXPORT(SoftmaxRow);
HWY_EXPORT(SoftmaxRows);
HWY_EXPORT(SoftmaxRowsGradient);
HWY_EXPORT(LogSoftmaxRows);
HWY_EXPORT(LogSoftmaxRowsGradient);

RowPowers power_row(const float* x, std::int64_t n, float* y) {
  return HWY_DYNAMIC_DISPATCH(PowerRow)(x, n, y);
}

float softmax_row(const float* x, std::int64_t n, float* y) {
  return HWY_DYNAMIC_DISPATCH(SoftmaxRow)(x, n, y);
}

void softmax_rows(const float* x, std::int64_t rows, std::int64_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(SoftmaxRows)(x, rows, n, y);
}

void softmax_rows_gradient(const float* dy, const float* y, std::int64_t rows, std::int64_t n,
                           float* dx) {
  HWY_DYNAMIC_DISPATCH(SoftmaxRowsGradient)(dy, y, rows, n, dx);
}

void log_softmax_rows(const float* x, std::int64_t rows, std::int64_t n, float* y) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxRows)(x, rows, n, y);
}

void log_softmax_rows_gradient(const float* dy, const float* y, std::int64_t rows, std::int64_t n,
                               float* dx) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxRowsGradient)(dy, y, rows, n, dx);
}

}  // namespace linnet::cpu
#endif
