// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/products/dot_product_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "backend/cpu/elements_hwy.h"
#include "backend/cpu/products/dot_product.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using V = hn::Vec<Tag>;

constexpr std::int64_t kMostColumns = 4;
/// Sums in registers: 8 of 16 of them, or 16 of 32.
constexpr int kDots = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 16 : 8;
constexpr int rows_of(int columns) { return std::min(8, kDots / columns); }

HWY_INLINE std::int64_t lanes() { return static_cast<std::int64_t>(hn::Lanes(Tag())); }
HWY_INLINE std::int64_t vectors_of(std::int64_t length) { return (length + lanes() - 1) / lanes(); }

bool Pays(std::int64_t segments, std::int64_t length, std::int64_t columns) {
  constexpr std::int64_t kAddingLanes = 4;  // vectors' time for each result
  return columns <= kMostColumns &&
         columns * (segments * vectors_of(length) + kAddingLanes) < segments * length;
}

std::size_t Floats(std::int64_t segments, std::int64_t length, std::int64_t columns) {
  return static_cast<std::size_t>(segments * vectors_of(length) * columns * lanes());
}

/// A vector of a segment after the other, all columns of each side by side.
void Pack(const StridedMatrix& b, std::int64_t begin, std::int64_t end, std::int64_t length,
          std::int64_t columns, float* packed) {
  for (std::int64_t t = begin; t < end; ++t) {
    const std::int64_t at = t % length;
    const std::int64_t vector = t / length * vectors_of(length) + at / lanes();
    float* to = packed + vector * columns * lanes() + at % lanes();
    const std::int64_t unused = at + 1 == length ? lanes() - 1 - at % lanes() : 0;
    for (std::int64_t j = 0; j < columns; ++j, to += lanes()) {
      *to = b.data[(t - begin) * b.term_stride + j * b.column_stride];
      std::fill_n(to + 1, unused, 0.0F);
    }
  }
}

/// Writes the sums of the lanes of four vectors.
HWY_INLINE void add_lanes(V a, V b, V c, V d, float* to) {
#if HWY_TARGET == HWY_SCALAR
  const V of[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) to[i] = hn::GetLane(of[i]);
#else
  const Tag tag;
  const hn::Repartition<std::uint64_t, Tag> pairs;
  const hn::FixedTag<float, 4> four;
  // Each block of four lanes holds a0 + a2, b0 + b2, a1 + a3, b1 + b3; the second the same of c and
  // d.
  const V ab = hn::Add(hn::InterleaveLower(tag, a, b), hn::InterleaveUpper(tag, a, b));
  const V cd = hn::Add(hn::InterleaveLower(tag, c, d), hn::InterleaveUpper(tag, c, d));
  const auto first = hn::BitCast(pairs, ab);
  const auto second = hn::BitCast(pairs, cd);
  const V blocks = hn::Add(hn::BitCast(tag, hn::InterleaveLower(pairs, first, second)),
                           hn::BitCast(tag, hn::InterleaveUpper(pairs, first, second)));
  HWY_ALIGN float sums[hn::MaxLanes(Tag())];
  hn::Store(blocks, tag, sums);
  auto all = hn::Load(four, sums);
  for (std::int64_t i = 4; i < lanes(); i += 4) all = hn::Add(all, hn::Load(four, sums + i));
  hn::StoreU(all, four, to);
#endif
}

template <int kRows, int kColumns>
HWY_INLINE void tile(const SegmentedRows& a, const float* const* rows, const float* packed,
                     const float* start, float* const* c) {
  const Tag d;
  constexpr int kSums = (kRows * kColumns + 3) / 4 * 4;
  V sums[kSums];  // a constructor of std::array would have no vector instructions on ARM64
  for (V& sum : sums) sum = hn::Zero(d);
  const std::int64_t whole = a.length / lanes() * lanes();
  for (std::int64_t s = 0; s < a.segments; ++s) {
    const auto add = [&](auto load, std::int64_t at) {
      V weights[kColumns];
      for (int j = 0; j < kColumns; ++j, packed += lanes()) weights[j] = hn::LoadU(d, packed);
      for (int r = 0; r < kRows; ++r) {
        const V x = load(rows[r] + s * a.stride + at);
        for (int j = 0; j < kColumns; ++j) {
          V& sum = sums[r * kColumns + j];
          sum = hn::MulAdd(x, weights[j], sum);
        }
      }
    };
    for (std::int64_t at = 0; at < whole; at += lanes()) {
      add([d](const float* from) { return hn::LoadU(d, from); }, at);
    }
    const std::int64_t rest = a.length - whole;
    if (rest > 0) add([d, rest](const float* from) { return load_first(d, from, rest); }, whole);
  }
  float results[kSums];
  for (int i = 0; i < kSums; i += 4) {
    add_lanes(sums[i], sums[i + 1], sums[i + 2], sums[i + 3], results + i);
  }
  for (int r = 0; r < kRows; ++r) {
    for (int j = 0; j < kColumns; ++j) {
      c[r][j] = results[r * kColumns + j] + (start == nullptr ? 0.0F : start[j]);
    }
  }
}

template <int kColumns>
void tiles(const SegmentedRows& a, std::int64_t rows, const float* packed, const float* start,
           float* const* c) {
  constexpr int kRows = rows_of(kColumns);
  std::int64_t r = 0;
  for (; r + kRows <= rows; r += kRows) {
    tile<kRows, kColumns>(a, a.rows + r, packed, start, c + r);
  }
  for (; r < rows; ++r) tile<1, kColumns>(a, a.rows + r, packed, start, c + r);
}

void Product(const SegmentedRows& a, std::int64_t rows, const float* packed, std::int64_t columns,
             const float* start, float* const* c) {
  switch (columns) {
    case 1: return tiles<1>(a, rows, packed, start, c);
    case 2: return tiles<2>(a, rows, packed, start, c);
    case 3: return tiles<3>(a, rows, packed, start, c);
    default: return tiles<kMostColumns>(a, rows, packed, start, c);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(Pays);
HWY_EXPORT(Floats);
HWY_EXPORT(Pack);
HWY_EXPORT(Product);

bool dot_product_pays(std::int64_t segments, std::int64_t length, std::int64_t columns) {
  return HWY_DYNAMIC_DISPATCH(Pays)(segments, length, columns);
}

std::size_t dot_floats(std::int64_t segments, std::int64_t length, std::int64_t columns) {
  return HWY_DYNAMIC_DISPATCH(Floats)(segments, length, columns);
}

void pack_dots(const StridedMatrix& b, std::int64_t begin, std::int64_t end, std::int64_t length,
               std::int64_t columns, float* packed) {
  HWY_DYNAMIC_DISPATCH(Pack)(b, begin, end, length, columns, packed);
}

void dot_product(const SegmentedRows& a, std::int64_t rows, const float* packed,
                 std::int64_t columns, const float* start, float* const* c) {
  HWY_DYNAMIC_DISPATCH(Product)(a, rows, packed, columns, start, c);
}

}  // namespace linnet::cpu
#endif
