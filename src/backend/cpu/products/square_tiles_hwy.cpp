// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/products/square_tiles_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/products/square_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A vector never has more elements than a tile's row.
using Tag = hn::CappedTag<double, 8>;
using V = hn::Vec<Tag>;

/// Sums in registers: kRows rows of two vectors.
constexpr int kRows = 4;

HWY_INLINE void corner(double* c, const double* a, const double* b, std::int64_t rows, V sign) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V sums[kRows][2];
  for (int i = 0; i < kRows; ++i) sums[i][0] = sums[i][1] = hn::Zero(d);
  for (std::int64_t n = 0; n < rows; ++n) {
    const V left = hn::Load(d, b + n * kTile);
    const V right = hn::Load(d, b + n * kTile + lanes);
    for (int i = 0; i < kRows; ++i) {
      const V factor = hn::Set(d, a[n * kTile + i]);
      sums[i][0] = hn::MulAdd(factor, left, sums[i][0]);
      sums[i][1] = hn::MulAdd(factor, right, sums[i][1]);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int half = 0; half < 2; ++half) {
      double* to = c + i * kTile + half * lanes;
      hn::Store(hn::MulAdd(sign, sums[i][half], hn::Load(d, to)), d, to);
    }
  }
}

void AddTileProduct(double* c, const double* a, const double* b, std::int64_t rows, double sign,
                    std::int64_t height, std::int64_t width) {
  const Tag d;
  const auto step = 2 * static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t j = 0; j < width; j += step) {
    for (std::int64_t i = 0; i < height; i += kRows) {
      corner(c + i * kTile + j, a + i, b + j, rows, hn::Set(d, sign));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(AddTileProduct);

void add_tile_product(double* c, const double* a, const double* b, std::int64_t rows, double sign) {
  HWY_DYNAMIC_DISPATCH(AddTileProduct)(c, a, b, rows, sign, kTile, kTile);
}

void add_tile_part(double* c, const double* a, const double* b, std::int64_t rows,
                   std::int64_t height, std::int64_t width) {
  HWY_DYNAMIC_DISPATCH(AddTileProduct)(c, a, b, rows, 1, height, width);
}

}  // namespace linnet::cpu
#endif
