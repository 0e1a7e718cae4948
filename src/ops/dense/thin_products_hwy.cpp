// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. (Accumulators
// are arrays of vectors, which sizeless ones can't be.)
#include <hwy/detect_targets.h>
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/dense/thin_products_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/dense/thin_products_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Tag())); }

/// kRows x kUnits dot products over the features, side by side.
template <int kRows, int kUnits>
HWY_INLINE void dots(const ThinShape& s, const float* x, const float* w, float* y) {
  const Tag d;
  V sums[kRows][kUnits];
  for (auto& row : sums) {
    for (V& sum : row) sum = hn::Zero(d);
  }
  std::int64_t f = 0;
  for (; f + lanes() <= s.features; f += lanes()) {
    V weights[kUnits];
    for (int u = 0; u < kUnits; ++u) weights[u] = hn::LoadU(d, w + u * s.features + f);
    for (int r = 0; r < kRows; ++r) {
      const V pixel = hn::LoadU(d, x + r * s.features + f);
      for (int u = 0; u < kUnits; ++u) sums[r][u] = hn::MulAdd(pixel, weights[u], sums[r][u]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int u = 0; u < kUnits; ++u) {
      float sum = hn::GetLane(hn::SumOfLanes(d, sums[r][u]));
      for (std::int64_t k = f; k < s.features; ++k) {
        sum += x[r * s.features + k] * w[u * s.features + k];
      }
      y[r * s.units + u] = sum;
    }
  }
}

template <int kRows>
HWY_INLINE void rows_of_dots(const ThinShape& s, const float* x, const float* w, float* y) {
  std::int64_t u = 0;
  for (; u + 3 <= s.units; u += 3) dots<kRows, 3>(s, x, w + u * s.features, y + u);
  if (s.units - u == 2) dots<kRows, 2>(s, x, w + u * s.features, y + u);
  if (s.units - u == 1) dots<kRows, 1>(s, x, w + u * s.features, y + u);
}

void Forward(const ThinShape& s, const float* x, const float* w, float* y) {
  std::int64_t r = 0;
  for (; r + 4 <= s.rows; r += 4) rows_of_dots<4>(s, x + r * s.features, w, y + r * s.units);
  for (; r < s.rows; ++r) rows_of_dots<1>(s, x + r * s.features, w, y + r * s.units);
}

/// kRows rows of dx, kVectors vectors of features from w on, whose rows are `stride` apart.
template <int kRows, int kVectors>
HWY_INLINE void combine(const ThinShape& s, const float* dz, const float* w, float* dx) {
  const Tag d;
  V sums[kRows][kVectors];
  for (auto& row : sums) {
    for (V& sum : row) sum = hn::Zero(d);
  }
  for (std::int64_t u = 0; u < s.units; ++u) {
    V weights[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      weights[v] = hn::LoadU(d, w + u * s.features + v * lanes());
    }
    for (int r = 0; r < kRows; ++r) {
      const V slope = hn::Set(d, dz[r * s.units + u]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(slope, weights[v], sums[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[r][v], d, dx + r * s.features + v * lanes());
    }
  }
}

/// All rows of kVectors vectors of features: their weights stay in the first cache meanwhile.
template <int kVectors>
HWY_INLINE void columns_of_input(const ThinShape& s, const float* dz, const float* w, float* dx) {
  std::int64_t r = 0;
  for (; r + 4 <= s.rows; r += 4) {
    combine<4, kVectors>(s, dz + r * s.units, w, dx + r * s.features);
  }
  for (; r < s.rows; ++r) combine<1, kVectors>(s, dz + r * s.units, w, dx + r * s.features);
}

void GradInput(const ThinShape& s, const float* dz, const float* w, float* dx) {
  std::int64_t f = 0;
  for (; f + 2 * lanes() <= s.features; f += 2 * lanes()) {
    columns_of_input<2>(s, dz, w + f, dx + f);
  }
  for (; f + lanes() <= s.features; f += lanes()) columns_of_input<1>(s, dz, w + f, dx + f);
  for (; f < s.features; ++f) {
    for (std::int64_t r = 0; r < s.rows; ++r) {
      float sum = 0;
      for (std::int64_t u = 0; u < s.units; ++u) sum += dz[r * s.units + u] * w[u * s.features + f];
      dx[r * s.features + f] = sum;
    }
  }
}

/// kUnits rows of dw, kVectors vectors of features.
template <int kUnits, int kVectors>
HWY_INLINE void accumulate(const ThinShape& s, const float* dz, const float* x, float* dw) {
  const Tag d;
  V sums[kUnits][kVectors];
  for (auto& row : sums) {
    for (V& sum : row) sum = hn::Zero(d);
  }
  for (std::int64_t r = 0; r < s.rows; ++r) {
    V pixels[kVectors];
    for (int v = 0; v < kVectors; ++v) pixels[v] = hn::LoadU(d, x + r * s.features + v * lanes());
    for (int u = 0; u < kUnits; ++u) {
      const V slope = hn::Set(d, dz[r * s.units + u]);
      for (int v = 0; v < kVectors; ++v) sums[u][v] = hn::MulAdd(slope, pixels[v], sums[u][v]);
    }
  }
  for (int u = 0; u < kUnits; ++u) {
    for (int v = 0; v < kVectors; ++v) {
      hn::StoreU(sums[u][v], d, dw + u * s.features + v * lanes());
    }
  }
}

template <int kVectors>
HWY_INLINE void columns_of_weight(const ThinShape& s, const float* dz, const float* x, float* dw) {
  std::int64_t u = 0;
  for (; u + 5 <= s.units; u += 5) accumulate<5, kVectors>(s, dz + u, x, dw + u * s.features);
  for (; u < s.units; ++u) accumulate<1, kVectors>(s, dz + u, x, dw + u * s.features);
}

void GradWeight(const ThinShape& s, const float* dz, const float* x, std::int64_t begin,
                std::int64_t end, float* dw) {
  std::int64_t f = begin;
  for (; f + 2 * lanes() <= end; f += 2 * lanes()) columns_of_weight<2>(s, dz, x + f, dw + f);
  for (; f + lanes() <= end; f += lanes()) columns_of_weight<1>(s, dz, x + f, dw + f);
  for (; f < end; ++f) {
    for (std::int64_t u = 0; u < s.units; ++u) {
      float sum = 0;
      for (std::int64_t r = 0; r < s.rows; ++r) sum += dz[r * s.units + u] * x[r * s.features + f];
      dw[u * s.features + f] = sum;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(Forward);
HWY_EXPORT(GradInput);
HWY_EXPORT(GradWeight);

void thin_forward(const ThinShape& shape, const float* x, const float* w, float* y) {
  HWY_DYNAMIC_DISPATCH(Forward)(shape, x, w, y);
}

void thin_grad_input(const ThinShape& shape, const float* dz, const float* w, float* dx) {
  HWY_DYNAMIC_DISPATCH(GradInput)(shape, dz, w, dx);
}

void thin_grad_weight(const ThinShape& shape, const float* dz, const float* x, std::int64_t begin,
                      std::int64_t end, float* dw) {
  HWY_DYNAMIC_DISPATCH(GradWeight)(shape, dz, x, begin, end, dw);
}

}  // namespace linnet::cpu
#endif
