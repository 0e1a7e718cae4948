// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/dense/thin_products_hwy.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "ops/dense/thin_products_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Tag())); }

/// Rows whose dot products are summed before the next rows begin, and features that are summed for
/// all of them before the next ones: these of 10 or so units stay in the L1 cache meanwhile.
constexpr std::int64_t kRowsTogether = 16;
constexpr std::int64_t kFeaturesTogether = 512;

/// Adds features [begin, end) of kRows x kUnits dot products, whole vectors of them, to a vector of
/// sums for each; `sums` has one for each of a row's units, row after row.
template <int kRows, int kUnits>
HWY_INLINE void dots(const ThinShape& s, const float* x, const float* w, std::int64_t begin,
                     std::int64_t end, float* sums) {
  const Tag d;
  V totals[kRows][kUnits];
  for (int r = 0; r < kRows; ++r) {
    for (int u = 0; u < kUnits; ++u) {
      totals[r][u] = begin == 0 ? hn::Zero(d) : hn::Load(d, sums + (r * s.units + u) * lanes());
    }
  }
  for (std::int64_t f = begin; f < end; f += lanes()) {
    V weights[kUnits];
    for (int u = 0; u < kUnits; ++u) {
      // Where one row is all, weights come from memory; the processor itself fetches no next ones.
      if constexpr (kRows == 1) hwy::Prefetch(w + (u + kUnits) * s.features + f);
      weights[u] = hn::LoadU(d, w + u * s.features + f);
    }
    for (int r = 0; r < kRows; ++r) {
      const V pixel = hn::LoadU(d, x + r * s.features + f);
      for (int u = 0; u < kUnits; ++u) totals[r][u] = hn::MulAdd(pixel, weights[u], totals[r][u]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int u = 0; u < kUnits; ++u) {
      hn::Store(totals[r][u], d, sums + (r * s.units + u) * lanes());
    }
  }
}

/// Units whose sums fit the registers beside those of 4 rows: 12 of 16 sums, or 20 of 32.
constexpr int kUnitsAtOnce = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 5 : 3;

/// The last units, fewer than kMost.
template <int kRows, int kMost = kUnitsAtOnce>
HWY_INLINE void rest_of_dots(const ThinShape& s, const float* x, const float* w, std::int64_t units,
                             std::int64_t begin, std::int64_t end, float* sums) {
  if constexpr (kMost > 1) {
    if (units == kMost - 1) return dots<kRows, kMost - 1>(s, x, w, begin, end, sums);
    rest_of_dots<kRows, kMost - 1>(s, x, w, units, begin, end, sums);
  }
}

template <int kRows>
HWY_INLINE void rows_of_dots(const ThinShape& s, const float* x, const float* w, std::int64_t begin,
                             std::int64_t end, float* sums) {
  std::int64_t u = 0;
  for (; u + kUnitsAtOnce <= s.units; u += kUnitsAtOnce) {
    dots<kRows, kUnitsAtOnce>(s, x, w + u * s.features, begin, end, sums + u * lanes());
  }
  rest_of_dots<kRows>(s, x, w + u * s.features, s.units - u, begin, end, sums + u * lanes());
}

void Forward(const ThinShape& s, const float* x, const float* w, float* y) {
  const Tag d;
  HWY_ALIGN float sums[kRowsTogether * kMostThinUnits * hn::MaxLanes(Tag())];
  const std::int64_t whole = s.features / lanes() * lanes();
  for (std::int64_t r0 = 0; r0 < s.rows; r0 += kRowsTogether) {
    const std::int64_t rows = std::min(kRowsTogether, s.rows - r0);
    const auto sums_of = [&](std::int64_t r) { return sums + r * s.units * lanes(); };
    const std::int64_t together = rows == 1 ? std::max<std::int64_t>(whole, 1) : kFeaturesTogether;
    for (std::int64_t f = 0; f == 0 || f < whole; f += together) {
      const std::int64_t end = std::min(f + together, whole);
      const float* from = x + r0 * s.features;
      std::int64_t r = 0;
      for (; r + 4 <= rows; r += 4) {
        rows_of_dots<4>(s, from + r * s.features, w, f, end, sums_of(r));
      }
      for (; r < rows; ++r) rows_of_dots<1>(s, from + r * s.features, w, f, end, sums_of(r));
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* row = x + (r0 + r) * s.features;
      for (std::int64_t u = 0; u < s.units; ++u) {
        float sum = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, sums_of(r) + u * lanes())));
        for (std::int64_t k = whole; k < s.features; ++k) sum += row[k] * w[u * s.features + k];
        y[(r0 + r) * s.units + u] = sum;
      }
    }
  }
}

/// out[i, f] = the sum over k of coefficient[i * across + k * along] * m[k, f], for `count` rows i
/// and `terms` rows k; rows of m and out are `features` long. dx and dw are both of this form.
struct Combination {
  std::int64_t count = 0;
  std::int64_t terms = 0;
  std::int64_t features = 0;
  std::int64_t across = 0;
  std::int64_t along = 0;
};

/// Terms that are summed at once: their columns stay in the L1 cache for all rows of out.
constexpr std::int64_t kTermsTogether = 128;

/// Whole vectors of features.
struct WholeVectors {
  HWY_INLINE V load(const float* from) const { return hn::LoadU(Tag(), from); }
  HWY_INLINE void store(V v, float* to) const { hn::StoreU(v, Tag(), to); }
};

/// The last features, fewer than a vector. What follows them is neither read nor written: it may be
/// no memory, or another task's.
struct LastFeatures {
  static constexpr bool kMasks = HWY_TARGET <= HWY_AVX2;  // others would touch a whole vector

  HWY_INLINE V load(const float* from) const {
    const Tag d;
    if constexpr (kMasks) return hn::MaskedLoad(hn::FirstN(d, count), d, from);
    HWY_ALIGN float padded[hn::MaxLanes(Tag())] = {};
    std::copy_n(from, count, padded);
    return hn::Load(d, padded);
  }
  HWY_INLINE void store(V v, float* to) const {
    const Tag d;
    if constexpr (kMasks) return hn::BlendedStore(v, hn::FirstN(d, count), d, to);
    HWY_ALIGN float padded[hn::MaxLanes(Tag())];
    hn::Store(v, d, padded);
    std::copy_n(padded, count, to);
  }
  std::size_t count;
};

/// kRows rows of out, kVectors vectors of features. With `fetch`, the features after these are
/// fetched meanwhile.
template <int kRows, int kVectors, class Vectors>
HWY_INLINE void combine(const Combination& c, const float* coefficient, const float* m, bool add,
                        bool fetch, const Vectors& vectors, float* out) {
  const Tag d;
  V sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = add ? vectors.load(out + r * c.features + v * lanes()) : hn::Zero(d);
    }
  }
  for (std::int64_t k = 0; k < c.terms; ++k) {
    const float* row = m + k * c.features;
    V values[kVectors];
    for (int v = 0; v < kVectors; ++v) values[v] = vectors.load(row + v * lanes());
    if (fetch) {
      for (int v = kVectors; v < 2 * kVectors; ++v) hwy::Prefetch(row + v * lanes());
    }
    for (int r = 0; r < kRows; ++r) {
      const V factor = hn::Set(d, coefficient[r * c.across + k * c.along]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(factor, values[v], sums[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      vectors.store(sums[r][v], out + r * c.features + v * lanes());
    }
  }
}

/// All rows of kVectors vectors of features.
template <int kRows, int kVectors, class Vectors = WholeVectors>
HWY_INLINE void combine_columns(const Combination& c, const float* coefficient, const float* m,
                                bool add, float* out, const Vectors& vectors = {}) {
  const bool fetch = c.terms == kTermsTogether;
  std::int64_t i = 0;
  for (; i + kRows <= c.count; i += kRows) {
    combine<kRows, kVectors>(c, coefficient + i * c.across, m, add, fetch && i == 0, vectors,
                             out + i * c.features);
  }
  for (; i < c.count; ++i) {
    combine<1, kVectors>(c, coefficient + i * c.across, m, add, false, vectors,
                         out + i * c.features);
  }
}

/// Features [begin, end), kRows rows at once.
template <int kRows>
HWY_INLINE void combine_all(const Combination& all, const float* coefficient, const float* m,
                            std::int64_t begin, std::int64_t end, float* out) {
  constexpr int kVectors = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 4 : 2;
  for (std::int64_t k0 = 0; k0 == 0 || k0 < all.terms; k0 += kTermsTogether) {
    Combination c = all;
    c.terms = std::min(kTermsTogether, all.terms - k0);
    const float* factors = coefficient + k0 * c.along;
    const float* from = m + k0 * c.features;
    std::int64_t f = begin;
    for (; f + kVectors * lanes() <= end; f += kVectors * lanes()) {
      combine_columns<kRows, kVectors>(c, factors, from + f, k0 > 0, out + f);
    }
    for (; f + lanes() <= end; f += lanes()) {
      combine_columns<kRows, 1>(c, factors, from + f, k0 > 0, out + f);
    }
    if (f < end) {
      combine_columns<kRows, 1>(c, factors, from + f, k0 > 0, out + f,
                                LastFeatures{static_cast<std::size_t>(end - f)});
    }
  }
}

void GradInput(const ThinShape& s, const float* dz, const float* w, float* dx) {
  const Combination c{s.rows, s.units, s.features, s.units, 1};
  combine_all<4>(c, dz, w, 0, s.features, dx);
}

void GradWeight(const ThinShape& s, const float* dz, const float* x, std::int64_t begin,
                std::int64_t end, float* dw) {
  const Combination c{s.units, s.rows, s.features, 1, s.units};
  combine_all<5>(c, dz, x, begin, end, dw);
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
