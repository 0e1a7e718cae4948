// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/bf16_tiles.h"

#include <hwy/base.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "backend/cpu/bf16.h"
#include "backend/cpu/products/amx_product.h"
#include "backend/cpu/products/amx_tiles.h"
#include "base/check.h"

#if HWY_ARCH_X86_64
#include <immintrin.h>
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12's own intrinsics
#endif
#endif

namespace linnet::cpu {
namespace {

constexpr std::int64_t kVector = 16;
/// 12 x 2 sums, the panel's two vectors and a few broadcasts: of 32 registers.
constexpr int kTileRows = 12;
/// Pairs that are summed at once: their part of a panel, 128 KiB, comes from the L2 cache, which is
/// fast enough; loading and storing sums more often costs a tenth of the speed.
constexpr std::int64_t kBlockPairs = 1024;

std::int64_t padded_columns(std::int64_t columns) {
  return (columns + kVector - 1) / kVector * kVector;
}

}  // namespace

bool own_bf16_products() { return bf16_unit() != Bf16Unit::amx || has_amx_tiles(); }

std::size_t bf16_panel_bytes(std::int64_t pairs, std::int64_t columns) {
  return sizeof(std::uint32_t) * static_cast<std::size_t>(pairs * padded_columns(columns));
}

std::size_t bf16_tile_bytes(std::int64_t pairs, std::int64_t rows) {
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  const std::int64_t amx = amx_tiles_of(pairs) * amx_tiles_of(rows) * kAmxWords;
  return sizeof(std::uint32_t) *
         static_cast<std::size_t>(std::max(pairs * tiles * kTileRows + kVector, amx));
}

#if HWY_ARCH_X86_64

bool has_bf16_tiles() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512bf16");
  return has;
}

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx2,fma")
namespace {

HWY_INLINE __mmask16 mask_of(std::int64_t columns) {
  return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(columns, 0, kVector)) - 1U);
}

/// A pair of bfloat16s as the 32 bits that they are in memory.
HWY_INLINE __m512bh broadcast(const std::uint16_t* pair) {
  float bits = 0;
  std::memcpy(&bits, pair, sizeof(bits));
  return reinterpret_cast<__m512bh>(_mm512_set1_ps(bits));
}

HWY_INLINE __m512bh load(const std::uint16_t* from) {
  return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from));
}

/// tanh(x), at most 7e-5 of it off, for what is rounded to 8 bits. NaN stays.
HWY_INLINE __m512 short_tanh(__m512 x) {
  const __m512 end = _mm512_set1_ps(3.6F);  // rounded, all that follows is 1
  x = _mm512_max_ps(_mm512_sub_ps(_mm512_setzero_ps(), end), _mm512_min_ps(end, x));
  const __m512 z = _mm512_mul_ps(x, x);
  __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(8.11060906e-4F), z, _mm512_set1_ps(1.06356747e-1F));
  p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(9.99993283e-1F));
  __m512 q = _mm512_fmadd_ps(_mm512_set1_ps(1.41007301e-2F), z, _mm512_set1_ps(4.39634146e-1F));
  q = _mm512_fmadd_ps(q, z, _mm512_set1_ps(1));
  return _mm512_mul_ps(_mm512_mul_ps(x, p), _mm512_rcp14_ps(q));
}

/// Rows where they lie.
template <int kRows>
struct RowAddresses {
  HWY_INLINE __m512bh operator()(int row, std::int64_t pair) const {
    return broadcast(rows[row] + 2 * pair);
  }
  const std::uint16_t* rows[kRows];
};

struct TileAddress {
  HWY_INLINE __m512bh operator()(int row, std::int64_t pair) const {
    return broadcast(tile + 2 * (pair * kTileRows + row));
  }
  const std::uint16_t* tile;
};

/// The sums of a tile of kRows rows and kVectors vectors of columns.
template <int kRows, int kVectors>
struct Sums {
  HWY_INLINE void clear() {
#pragma GCC unroll 24
    for (int i = 0; i < kRows * kVectors; ++i) sums[i] = _mm512_setzero_ps();
  }
  HWY_INLINE void load(const float* c, std::int64_t c_stride, std::int64_t columns) {
#pragma GCC unroll 24
    for (int i = 0; i < kRows * kVectors; ++i) {
      const int v = i % kVectors;
      sums[i] = _mm512_maskz_loadu_ps(mask_of(columns - v * kVector),
                                      c + i / kVectors * c_stride + v * kVector);
    }
  }
  HWY_INLINE void store(float* c, std::int64_t c_stride, std::int64_t columns) const {
#pragma GCC unroll 24
    for (int i = 0; i < kRows * kVectors; ++i) {
      const int v = i % kVectors;
      _mm512_mask_storeu_ps(c + i / kVectors * c_stride + v * kVector,
                            mask_of(columns - v * kVector), sums[i]);
    }
  }
  /// Rounds what follows from the sums to `to`, of whose columns the first is y's.
  HWY_INLINE void finish(const Bf16Result& to, std::int64_t columns) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const __mmask16 mask = mask_of(columns - v * kVector);
      const std::int64_t c = v * kVector;
      const __m512 scale =
          to.scale == nullptr ? _mm512_set1_ps(1) : _mm512_maskz_loadu_ps(mask, to.scale + c);
      const __m512 bias =
          to.bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, to.bias + c);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        __m512& x = sums[r * kVectors + v];
        x = _mm512_fmadd_ps(x, scale, bias);
      }
      if (to.residual != nullptr) {
#pragma GCC unroll 12
        for (int r = 0; r < kRows; ++r) {
          const __m256i half = _mm256_maskz_loadu_epi16(mask, to.residual + r * to.stride + c);
          const __m512i wide = _mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16);
          __m512& x = sums[r * kVectors + v];
          x = _mm512_add_ps(x, _mm512_castsi512_ps(wide));
        }
      }
    }
    if (to.then == Bf16Result::Then::relu) {
#pragma GCC unroll 24
      for (__m512& x : sums) x = _mm512_max_ps(_mm512_setzero_ps(), x);
    } else if (to.then == Bf16Result::Then::tanh) {
#pragma GCC unroll 24
      for (__m512& x : sums) x = short_tanh(x);
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      std::uint16_t* y = to.y + r * to.stride;
      if (kVectors == 2 && columns == 2 * kVector) {  // a line of memory at once
        _mm512_storeu_si512(y, reinterpret_cast<__m512i>(
                                   _mm512_cvtne2ps_pbh(sums[r * kVectors + kVectors - 1],
                                                       sums[r * kVectors])));
        continue;
      }
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        _mm256_mask_storeu_epi16(y + v * kVector, mask_of(columns - v * kVector),
                                 reinterpret_cast<__m256i>(
                                     _mm512_cvtneps_pbh(sums[r * kVectors + v])));
      }
    }
  }
  /// Adds `pairs` pairs of terms; returns the panel's place after them.
  template <class A>
  HWY_INLINE const std::uint16_t* add(const A& a, std::int64_t pairs, const std::uint16_t* b) {
    for (std::int64_t t = 0; t < pairs; ++t, b += 2 * kVector * kVectors) {
      __m512bh row[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) row[v] = cpu::load(b + 2 * kVector * v);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        const __m512bh x = a(r, t);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          sums[r * kVectors + v] = _mm512_dpbf16_ps(sums[r * kVectors + v], x, row[v]);
        }
      }
    }
    return b;
  }

  __m512 sums[kRows * kVectors];
};

/// What all tiles of a panel share.
struct PanelPart {
  const std::uint16_t* panel;
  std::int64_t segments;
  std::int64_t pairs;   ///< of a segment
  std::int64_t stride;  ///< from segment to segment of a row
  std::int64_t columns;
  std::int64_t c_stride;
  bool first;
};

/// `to`: null where the sums are stored.
template <int kRows, int kVectors>
HWY_NOINLINE void row_tile(const PanelPart& part, const std::uint16_t* const* rows,
                           std::int64_t offset, float* c, const Bf16Result* to) {
  Sums<kRows, kVectors> sums;
  if (part.first) {
    sums.clear();
  } else {
    sums.load(c, part.c_stride, part.columns);
  }
  RowAddresses<kRows> a;
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) a.rows[r] = rows[r] + offset;
  const std::uint16_t* b = part.panel;
  for (std::int64_t s = 0; s < part.segments; ++s) {
    b = sums.add(a, part.pairs, b);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) a.rows[r] += part.stride;
  }
  if (to == nullptr) {
    sums.store(c, part.c_stride, part.columns);
  } else {
    sums.finish(*to, part.columns);
  }
}

template <int kRows, int kVectors>
HWY_NOINLINE void packed_tile(const PanelPart& part, const std::uint16_t* tile, float* c) {
  Sums<kRows, kVectors> sums;
  if (part.first) {
    sums.clear();
  } else {
    sums.load(c, part.c_stride, part.columns);
  }
  sums.add(TileAddress{tile}, part.pairs, part.panel);
  sums.store(c, part.c_stride, part.columns);
}

/// Calls f<kRows, kVectors>() of a tile's rows, 1 to 12, and its panel's vectors, 1 or 2.
template <class F>
HWY_INLINE void for_tile(std::int64_t rows, std::int64_t vectors, F&& f) {
  [&]<int... kLess>(std::integer_sequence<int, kLess...>) {
    (void)((rows == kLess + 1 && (vectors == 1 ? f.template operator()<kLess + 1, 1>()
                                               : f.template operator()<kLess + 1, 2>(),
                                  true)) ||
           ...);
  }
  (std::make_integer_sequence<int, kTileRows>());
}

/// Calls f(column, used, vectors) of panel after panel.
template <class F>
HWY_INLINE void for_panels(std::int64_t columns, F&& f) {
  for (std::int64_t j = 0; j < columns; j += 2 * kVector) {
    f(j, std::min(columns - j, 2 * kVector), columns - j <= kVector ? 1 : 2);
  }
}

/// Takes the block of pairs from `begin` on into `part`: whole segments as far as they fit, else a
/// part of one. Returns where it begins in a row.
HWY_INLINE std::int64_t next_block(const Bf16Rows& a, std::int64_t of_segment, std::int64_t begin,
                                   PanelPart& part) {
  const std::int64_t segment = begin / of_segment;
  const std::int64_t inside = begin % of_segment;
  if (of_segment > kBlockPairs) {
    const std::int64_t parts = (of_segment + kBlockPairs - 1) / kBlockPairs;
    part.pairs = std::min((of_segment + parts - 1) / parts, of_segment - inside);
  } else {
    part.pairs = of_segment;
    part.segments = std::min(a.segments - segment, kBlockPairs / of_segment);
  }
  return segment * a.stride + 2 * inside;
}

// What a tile that comes next will read or write is fetched while one is summed.

template <class T>
HWY_INLINE void fetch(const T* line) {
  _mm_prefetch(reinterpret_cast<const char*>(line), _MM_HINT_T0);
}

HWY_INLINE void fetch_sums(const float* c, std::int64_t c_stride, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i, c += c_stride) {
    fetch(c);
    fetch(c + kVector);
    fetch(c + 2 * kVector - 1);
  }
}

/// Fetches `length` values of each of a tile's rows, from `offset` on.
HWY_INLINE void fetch_rows(const std::uint16_t* const* a, std::int64_t rows, std::int64_t offset,
                           std::int64_t length) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t t = 0; t < length; t += 2 * kVector) fetch(a[i] + offset + t);
  }
}

HWY_INLINE void fetch_result(const Bf16Result& result, std::int64_t rows) {
  for (std::int64_t i = 0; i < rows; ++i) {
    fetch(result.y + i * result.stride);
    if (result.residual != nullptr) fetch(result.residual + i * result.stride);
  }
}

/// Where 16 pairs of (even, odd) values come from: values [0, 16) of two vectors of 32.
HWY_INLINE __m512i pair_order() {
  return _mm512_add_epi32(  // (0, 32), (1, 33), ...
      _mm512_set1_epi32(0x00200000),
      _mm512_mullo_epi32(_mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                         _mm512_set1_epi32(0x00010001)));
}
/// 16 pairs from 16 values each of two rows.
HWY_INLINE __m512i interleaved(__m256i even, __m256i odd) {
  return _mm512_permutex2var_epi16(_mm512_castsi256_si512(even), pair_order(),
                                   _mm512_castsi256_si512(odd));
}
HWY_INLINE __m512i interleaved(__m512 even, __m512 odd) {
  return interleaved(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(even)),
                     reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(odd)));
}

/// 16 rows of 16 pairs each, transposed.
HWY_INLINE void transpose(__m512i (&m)[16]) {
  __m512i t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(m[i], m[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(m[i], m[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    m[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    m[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    m[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    m[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(m[i], m[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(m[i], m[i + 4], 0xDD);
    t[i + 8] = _mm512_shuffle_i32x4(m[i + 8], m[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(m[i + 8], m[i + 12], 0xDD);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    m[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    m[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xDD);
    m[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    m[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xDD);
  }
}

/// 16 columns of a panel of `width` whose terms are neighbours: column j at b + j stride.
void pack_columns(const float* b, std::int64_t stride, std::int64_t terms, std::int64_t columns,
                  std::int64_t width, std::uint16_t* to) {
  for (std::int64_t t = 0; t < terms; t += 2 * kVector) {
    const __mmask16 low = mask_of(terms - t);
    const __mmask16 high = mask_of(terms - t - kVector);
    __m512i m[kVector];
    for (std::int64_t j = 0; j < kVector; ++j) {
      const float* from = b + std::min(j, columns - 1) * stride + t;
      const __m512i row =
          reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(high, from + kVector),
                                                        _mm512_maskz_loadu_ps(low, from)));
      m[j] = j < columns ? row : _mm512_setzero_si512();
    }
    transpose(m);
    const std::int64_t pairs = std::min(pairs_of(terms - t), kVector);
    for (std::int64_t p = 0; p < pairs; ++p, to += 2 * width) _mm512_storeu_si512(to, m[p]);
  }
}

/// 16 columns whose terms are rows.
void pack_rows(const float* b, std::int64_t stride, std::int64_t terms, std::int64_t columns,
               std::int64_t width, std::uint16_t* to) {
  const __mmask16 used = mask_of(columns);
  for (std::int64_t t = 0; t < terms; t += 2, to += 2 * width) {
    const __m512 even = _mm512_maskz_loadu_ps(used, b + t * stride);
    const __m512 odd = _mm512_maskz_loadu_ps(t + 1 < terms ? used : 0, b + (t + 1) * stride);
    _mm512_storeu_si512(to, interleaved(even, odd));
  }
}

HWY_INLINE __m512 row_of(__mmask16 mask, const float* from) {
  return _mm512_maskz_loadu_ps(mask, from);
}
HWY_INLINE __m256i row_of(__mmask16 mask, const std::uint16_t* from) {
  return _mm256_maskz_loadu_epi16(mask, from);
}

/// AMX's tiles of 16 rows and 16 pairs.
template <class T>
void pack_squares(const T* a, std::int64_t a_stride, std::int64_t terms, std::int64_t rows,
                  std::uint32_t* tiles) {
  for (std::int64_t i = 0; i < rows; i += kVector) {
    const __mmask16 used = mask_of(rows - i);
    const auto term = [&](std::int64_t t) {
      return t < terms ? row_of(used, a + t * a_stride + i) : row_of(__mmask16{0}, a);
    };
    for (std::int64_t t = 0; t < terms; t += 2 * kVector) {
      __m512i m[kVector];
      for (int p = 0; p < kVector; ++p) m[p] = interleaved(term(t + 2 * p), term(t + 2 * p + 1));
      transpose(m);
      for (const __m512i& row : m) {
        _mm512_storeu_si512(tiles, row);
        tiles += kVector;
      }
    }
  }
}

template <class T>
void pack_tiles(const T* a, std::int64_t a_stride, std::int64_t terms, std::int64_t rows,
                std::uint16_t* tiles) {
  // Whole lines of a tile, 4 pairs, from rows that memory serves in order.
  constexpr std::int64_t kPairs = 4;
  const std::int64_t of_tile = 2 * kTileRows * pairs_of(terms);
  for (std::int64_t t = 0; t < terms; t += 2 * kPairs, tiles += 2 * kTileRows * kPairs) {
    const std::int64_t pairs = std::min(kPairs, pairs_of(terms - t));
    std::uint16_t* to = tiles;
    for (std::int64_t i = 0; i < rows; i += kTileRows, to += of_tile) {
      const __mmask16 used = mask_of(std::min<std::int64_t>(rows - i, kTileRows));
      const T* from = a + t * a_stride + i;
      for (std::int64_t p = 0; p < pairs; ++p, from += 2 * a_stride) {
        fetch(from + 2 * kPairs * a_stride);  // of the next pairs
        fetch(from + (2 * kPairs + 1) * a_stride);
        const auto odd = row_of(t + 2 * p + 1 < terms ? used : 0, from + a_stride);
        _mm512_mask_storeu_epi32(to + 2 * kTileRows * p, mask_of(kTileRows),
                                 interleaved(row_of(used, from), odd));
      }
    }
  }
}

/// Returns the part of a result from row `first` and column `j` on.
HWY_INLINE Bf16Result part_of(const Bf16Result& all, std::int64_t first, std::int64_t j) {
  Bf16Result own = all;
  own.y += first * all.stride + j;
  if (all.scale != nullptr) own.scale += j;
  if (all.bias != nullptr) own.bias += j;
  if (all.residual != nullptr) own.residual += first * all.stride + j;
  return own;
}

void panel_product(const Bf16Rows& a, std::int64_t rows, const std::uint16_t* panels,
                   std::int64_t columns, float* c, std::int64_t c_stride,
                   const Bf16Result* result) {
  const std::int64_t of_segment = pairs_of(a.length);
  const std::int64_t pairs = a.segments * of_segment;
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  for_panels(columns, [&](std::int64_t j, std::int64_t used, std::int64_t vectors) {
    PanelPart part{.panel = panels + 2 * j * pairs,
                   .segments = 1,
                   .pairs = 0,
                   .stride = a.stride,
                   .columns = used,
                   .c_stride = c_stride,
                   .first = true};
    for (std::int64_t begin = 0; begin < pairs; part.first = false) {
      const std::int64_t offset = next_block(a, of_segment, begin, part);
      const std::int64_t block = part.segments * part.pairs;
      const bool last = result != nullptr && begin + block == pairs;
      for (std::int64_t i = 0; i < tiles; ++i) {
        const std::int64_t first = rows * i / tiles;
        const std::int64_t end = rows * (i + 1) / tiles;
        const Bf16Result to = last ? part_of(*result, first, j) : Bf16Result{};
        const std::int64_t next = rows * ((i + 1) % tiles + 1) / tiles - end % rows;  // its rows
        if (last && end < rows) {
          fetch_result(part_of(*result, end, j), next);
        } else if (last && j + used < columns) {
          fetch_result(part_of(*result, 0, j + used), next);
        }
        if (j == 0 && a.segments == 1 && end < rows) {
          fetch_rows(a.rows + end, next, offset, 2 * part.pairs);
        }
        for_tile(end - first, vectors, [&]<int kRows, int kVectors>() {
          row_tile<kRows, kVectors>(part, a.rows + first, offset, c + first * c_stride + j,
                                    last ? &to : nullptr);
        });
      }
      part.panel += 2 * block * vectors * kVector;
      begin += block;
    }
  });
}

}  // namespace

void pack_bf16_panels(const StridedMatrix& b, std::int64_t terms, std::int64_t begin,
                      std::int64_t pairs, std::int64_t columns, std::uint16_t* panels) {
  LINNET_ASSERT(b.term_stride == 1 || b.column_stride == 1);
  for_panels(columns, [&](std::int64_t j, std::int64_t used, std::int64_t vectors) {
    const std::int64_t width = vectors * kVector;
    std::uint16_t* to = panels + 2 * (j * pairs + begin * width);
    for (std::int64_t v = 0; v < vectors; ++v, to += 2 * kVector) {
      const float* from = b.data + (j + v * kVector) * b.column_stride;
      const std::int64_t own = std::min(used - v * kVector, kVector);
      if (b.column_stride == 1) {
        pack_rows(from, b.term_stride, terms, own, width, to);
      } else {
        pack_columns(from, b.column_stride, terms, own, width, to);
      }
    }
  });
}

void bf16_panel_product(const Bf16Rows& a, std::int64_t rows, const std::uint16_t* panels,
                        std::int64_t columns, float* c, std::int64_t c_stride) {
  if (has_amx_tiles()) return amx_panel_product(a, rows, panels, columns, c, c_stride);
  panel_product(a, rows, panels, columns, c, c_stride, nullptr);
}

void bf16_panel_product(const Bf16Rows& a, std::int64_t rows, const std::uint16_t* panels,
                        std::int64_t columns, float* sums, const Bf16Result& result) {
  if (has_amx_tiles()) {
    amx_panel_product(a, rows, panels, columns, sums, columns);
    return finish_sums(sums, rows, columns, result);
  }
  panel_product(a, rows, panels, columns, sums, columns, &result);
}

void finish_sums(const float* sums, std::int64_t rows, std::int64_t columns,
                 const Bf16Result& result) {
  for_panels(columns, [&](std::int64_t j, std::int64_t used, std::int64_t vectors) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for_tile(1, vectors, [&]<int kRows, int kVectors>() {
        Sums<kRows, kVectors> of;
        of.load(sums + i * columns + j, columns, used);
        of.finish(part_of(result, i, j), used);
      });
    }
  });
}

void pack_amx_tiles(const float* a, std::int64_t a_stride, std::int64_t terms, std::int64_t rows,
                    std::uint32_t* tiles) {
  pack_squares(a, a_stride, terms, rows, tiles);
}

void pack_bf16_tiles(const float* a, std::int64_t a_stride, std::int64_t terms, std::int64_t rows,
                     std::uint16_t* tiles) {
  if (has_amx_tiles()) {
    return pack_squares(a, a_stride, terms, rows, reinterpret_cast<std::uint32_t*>(tiles));
  }
  pack_tiles(a, a_stride, terms, rows, tiles);
}

void pack_bf16_tiles(const std::uint16_t* a, std::int64_t a_stride, std::int64_t terms,
                     std::int64_t rows, std::uint16_t* tiles) {
  if (has_amx_tiles()) {
    return pack_squares(a, a_stride, terms, rows, reinterpret_cast<std::uint32_t*>(tiles));
  }
  pack_tiles(a, a_stride, terms, rows, tiles);
}

void pack_bf16_row_panels(const std::uint16_t* const* b, std::int64_t offset, std::int64_t terms,
                          std::int64_t columns, std::uint16_t* panels) {
  const std::int64_t pairs = pairs_of(terms);
  constexpr std::int64_t kAhead = 32;  // rows to fetch before they are read
  const __m512i low = pair_order();
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(0x00100010));
  for_panels(columns, [&](std::int64_t j, std::int64_t used, std::int64_t vectors) {
    const auto mask = static_cast<__mmask32>((std::uint64_t{1} << used) - 1U);
    const std::int64_t at = offset + j;
    std::uint16_t* to = panels + 2 * j * pairs;
    for (std::int64_t t = 0; t < terms; t += 2, to += 2 * kVector * vectors) {
      fetch(b[std::min(t + kAhead, terms - 1)] + at);
      fetch(b[std::min(t + kAhead + 1, terms - 1)] + at);
      const __m512i even = _mm512_maskz_loadu_epi16(mask, b[t] + at);
      const __m512i odd =
          t + 1 < terms ? _mm512_maskz_loadu_epi16(mask, b[t + 1] + at) : _mm512_setzero_si512();
      _mm512_storeu_si512(to, _mm512_permutex2var_epi16(even, low, odd));
      if (vectors == 1) continue;
      _mm512_storeu_si512(to + 2 * kVector, _mm512_permutex2var_epi16(even, high, odd));
    }
  });
}

void bf16_tile_product(std::int64_t pairs, std::int64_t rows, std::int64_t columns,
                       const std::uint16_t* tiles, const std::uint16_t* panels, bool accumulate,
                       float* c, std::int64_t c_stride) {
  if (has_amx_tiles()) {
    return amx_tile_product(pairs, rows, columns, tiles, panels, accumulate, c, c_stride);
  }
  PanelPart part{.panel = nullptr,
                 .segments = 1,
                 .pairs = pairs,
                 .stride = 0,
                 .columns = 0,
                 .c_stride = c_stride,
                 .first = !accumulate};
  for_panels(columns, [&](std::int64_t j, std::int64_t used, std::int64_t vectors) {
    part.panel = panels + 2 * j * pairs;
    part.columns = used;
    for (std::int64_t i = 0; i < rows; i += kTileRows) {
      const std::int64_t next = i + kTileRows;
      fetch_sums(c + next * c_stride + j, c_stride,
                 std::clamp<std::int64_t>(rows - next, 0, kTileRows));
      for_tile(std::min<std::int64_t>(rows - i, kTileRows), vectors,
               [&]<int kRows, int kVectors>() {
                 packed_tile<kRows, kVectors>(part, tiles + 2 * i * pairs, c + i * c_stride + j);
               });
    }
  });
}

void round_rows_to_bf16(const float* from, std::int64_t from_stride, std::int64_t rows,
                        std::int64_t count, std::uint16_t* to, std::int64_t to_stride) {
  for (std::int64_t r = 0; r < rows; ++r, from += from_stride, to += to_stride) {
    std::int64_t i = 0;
    for (; i + 2 * kVector <= count; i += 2 * kVector) {
      const __m512bh both =
          _mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + i + kVector), _mm512_loadu_ps(from + i));
      _mm512_storeu_si512(to + i, reinterpret_cast<__m512i>(both));
    }
    for (; i < count; i += kVector) {
      const __mmask16 mask = mask_of(count - i);
      const __m256bh half = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, from + i));
      _mm256_mask_storeu_epi16(to + i, mask, reinterpret_cast<__m256i>(half));
    }
  }
}

void scale_columns(float* c, std::int64_t rows, std::int64_t columns, std::int64_t c_stride,
                   const float* factors) {
  for (std::int64_t r = 0; r < rows; ++r, c += c_stride) {
    for (std::int64_t j = 0; j < columns; ++j) c[j] *= factors[j];
  }
}

HWY_POP_ATTRIBUTES

#else

// Never called: has_bf16_tiles() says no.
bool has_bf16_tiles() { return false; }
void pack_bf16_panels(const StridedMatrix&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                      std::uint16_t*) {}
void bf16_panel_product(const Bf16Rows&, std::int64_t, const std::uint16_t*, std::int64_t, float*,
                        std::int64_t) {}
void pack_amx_tiles(const float*, std::int64_t, std::int64_t, std::int64_t, std::uint32_t*) {}
void bf16_panel_product(const Bf16Rows&, std::int64_t, const std::uint16_t*, std::int64_t, float*,
                        const Bf16Result&) {}
void finish_sums(const float*, std::int64_t, std::int64_t, const Bf16Result&) {}
void pack_bf16_tiles(const float*, std::int64_t, std::int64_t, std::int64_t, std::uint16_t*) {}
void pack_bf16_tiles(const std::uint16_t*, std::int64_t, std::int64_t, std::int64_t,
                     std::uint16_t*) {}
void pack_bf16_row_panels(const std::uint16_t* const*, std::int64_t, std::int64_t, std::int64_t,
                          std::uint16_t*) {}
void bf16_tile_product(std::int64_t, std::int64_t, std::int64_t, const std::uint16_t*,
                       const std::uint16_t*, bool, float*, std::int64_t) {}
void round_rows_to_bf16(const float*, std::int64_t, std::int64_t, std::int64_t, std::uint16_t*,
                        std::int64_t) {}
void scale_columns(float*, std::int64_t, std::int64_t, std::int64_t, const float*) {}

#endif

}  // namespace linnet::cpu
