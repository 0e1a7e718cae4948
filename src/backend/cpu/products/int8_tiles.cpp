// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/int8_tiles.h"

#include <hwy/base.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#if HWY_ARCH_X86_64
#include <immintrin.h>

#include "backend/cpu/cpuid.h"
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12's own intrinsics
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#elif HWY_ARCH_ARM_A64 && defined(__linux__)
#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#define LINNET_INT8_NEON
#endif

namespace linnet::cpu {
namespace {

constexpr std::int64_t kLanes = 16;           // columns of a vector of 512 bits
constexpr std::int64_t kVector = 4 * kLanes;  // its bytes

/// Returns whether columns [column, column + kInt8Panel) fill one vector only.
bool narrow(std::int64_t column, std::int64_t columns) {
  return columns - column / kInt8Panel * kInt8Panel <= kLanes;
}

/// What is the same for all tiles of a product.
struct Walk {
  std::int64_t segments = 1;
  std::int64_t groups = 0;  ///< of a segment
  std::int64_t stride = 0;
};

float inverse_of(Int8Levels scale) { return 1 / scale.scale; }

/// The level of x, as all units compute it.
std::uint8_t level_of(float x, float inverse, float low, float high, std::int32_t zero) {
  const float scaled = x * inverse;
  const float above = scaled > low ? scaled : low;  // NaN becomes `low`
  // To nearest, ties to even, since floats of this size are whole.
  constexpr float kWhole = 12582912.0F;  // 1.5 * 2^23
  const float whole = (above < high ? above : high) + kWhole - kWhole;
  return static_cast<std::uint8_t>(static_cast<std::int32_t>(whole) + zero);
}

/// Finishes the sums of a tile in C++: rows of kInt8Panel sums.
void finish(const std::int32_t* sums, std::int64_t rows, std::int64_t first, std::int64_t used,
            std::int64_t row, const Int8Tail& tail) {
  const auto low = static_cast<float>(-tail.scale.zero);
  const auto high = static_cast<float>(255 - tail.scale.zero);
  const float inverse = inverse_of(tail.scale);
  for (std::int64_t r = 0; r < rows; ++r, sums += kInt8Panel) {
    const std::int64_t at = (row + r) * tail.stride + first;
    std::array<float, kInt8Panel> v{};
    for (std::int64_t j = 0; j < used; ++j) {
      v[static_cast<std::size_t>(j)] =
          static_cast<float>(sums[j]) * tail.factor[first + j] + tail.bias[first + j];
    }
    for (std::int64_t j = 0; tail.residual != nullptr && j < used; ++j) {
      v[static_cast<std::size_t>(j)] += tail.residual[at + j];
    }
    for (std::int64_t j = 0; tail.residual_levels != nullptr && j < used; ++j) {
      v[static_cast<std::size_t>(j)] +=
          static_cast<float>(tail.residual_levels[at + j] - tail.residual_scale.zero) *
          tail.residual_scale.scale;
    }
    for (std::int64_t j = 0; tail.relu && j < used; ++j) {
      float& x = v[static_cast<std::size_t>(j)];
      x = x > 0 ? x : 0;
    }
    for (std::int64_t j = 0; tail.y != nullptr && j < used; ++j) {
      tail.y[at + j] = v[static_cast<std::size_t>(j)];
    }
    for (std::int64_t j = 0; tail.levels != nullptr && j < used; ++j) {
      tail.levels[at + j] =
          level_of(v[static_cast<std::size_t>(j)], inverse, low, high, tail.scale.zero);
    }
  }
}

void start_with(const Int8Tail& tail, std::int64_t first, std::int64_t used, std::int64_t rows,
                std::int32_t* sums) {
  for (std::int64_t r = 0; r < rows; ++r, sums += kInt8Panel) {
    for (std::int64_t j = 0; j < kInt8Panel; ++j) sums[j] = j < used ? tail.start[first + j] : 0;
  }
}

/// Calls tile(panel, first, used, vectors, row, rows) for tiles of at most `most` rows.
template <class F>
void for_tiles(const Int8Rows& a, std::int64_t rows, const std::int8_t* panels,
               std::int64_t columns, std::int64_t most, F&& tile) {
  const std::int64_t tiles = (rows + most - 1) / most;
  for (std::int64_t j = 0; j < columns; j += kInt8Panel) {
    const std::int64_t used = std::min(columns - j, kInt8Panel);
    const int vectors = used <= kLanes ? 1 : 2;
    for (std::int64_t i = 0; i < tiles; ++i) {
      const std::int64_t row = rows * i / tiles;
      tile(panels, j, used, vectors, row, rows * (i + 1) / tiles - row);
    }
    panels += a.groups() * vectors * kVector;
  }
}

/// Calls f<kRows, kVectors>() of a tile's rows, 1 to kMost, and its panel's vectors, 1 or 2.
template <int kMost, class F>
void with_shape(std::int64_t rows, int vectors, F&& f) {
  [&]<int... kLess>(std::integer_sequence<int, kLess...>) {
    (void)((rows == kLess + 1 && (vectors == 1 ? f.template operator()<kLess + 1, 1>()
                                               : f.template operator()<kLess + 1, 2>(),
                                  true)) ||
           ...);
  }
  (std::make_integer_sequence<int, kMost>());
}

/// Sums and finishes a product tile by tile, where add<kRows, kVectors>(walk, rows, panel, sums)
/// adds to sums in memory.
template <int kMost, class Add>
void product_by(const Int8Rows& a, std::int64_t rows, const std::int8_t* panels,
                std::int64_t columns, const Int8Tail& tail, Add add) {
  const Walk walk{a.segments, int8_groups(a.length), a.stride};
  for_tiles(a, rows, panels, columns, kMost,
            [&](const std::int8_t* panel, std::int64_t first, std::int64_t used, int vectors,
                std::int64_t row, std::int64_t count) {
              std::array<std::int32_t, kMost * kInt8Panel> sums;
              start_with(tail, first, used, count, sums.data());
              with_shape<kMost>(count, vectors, [&]<int kRows, int kVectors>() {
                add.template operator()<kRows, kVectors>(walk, a.rows + row, panel, sums.data());
              });
              finish(sums.data(), count, first, used, row, tail);
            });
}

struct PlainAdd {
  template <int kRows, int kVectors>
  void operator()(const Walk& walk, const std::uint8_t* const* rows, const std::int8_t* panel,
                  std::int32_t* sums) const {
    for (std::int64_t s = 0; s < walk.segments; ++s) {
      for (std::int64_t g = 0; g < walk.groups; ++g, panel += kVectors * kVector) {
        for (int r = 0; r < kRows; ++r) {
          const std::uint8_t* x = rows[r] + s * walk.stride + 4 * g;
          std::int32_t* sum = sums + r * kInt8Panel;
          for (std::int64_t j = 0; j < kVectors * kLanes; ++j) {
            const std::int8_t* w = panel + 4 * j;
            sum[j] += x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3];
          }
        }
      }
    }
  }
};

void plain_product(const Int8Rows& a, std::int64_t rows, const std::int8_t* panels,
                   std::int64_t columns, const Int8Tail& tail) {
  product_by<4>(a, rows, panels, columns, tail, PlainAdd());
}

}  // namespace

std::string_view to_string(Int8Unit unit) {
  switch (unit) {
    case Int8Unit::avx512_vnni: return "avx512-vnni";
    case Int8Unit::avx_vnni: return "avx-vnni";
    case Int8Unit::avx2: return "avx2";
    case Int8Unit::neon_i8mm: return "neon-i8mm";
    case Int8Unit::neon_dot: return "neon-dot";
    case Int8Unit::plain: break;
  }
  return "plain";
}

std::size_t int8_panel_bytes(std::int64_t groups, std::int64_t columns) {
  const std::int64_t vectors = (columns + kLanes - 1) / kLanes;
  return static_cast<std::size_t>(groups * vectors * kVector);
}

void pack_int8(const std::int8_t* weights, std::int64_t terms, std::int64_t group,
               std::int64_t column, std::int64_t groups, std::int64_t columns,
               std::int8_t* panels) {
  const std::int64_t before = column / kInt8Panel * kInt8Panel;  // columns of whole panels
  const std::int64_t width = narrow(column, columns) ? kVector : 2 * kVector;
  std::int8_t* to = panels + before * 4 * groups + group * width + (column - before) * 4;
  for (std::int64_t t = 0; t < 4; ++t) to[t] = t < terms ? weights[t] : std::int8_t{0};
}

void to_levels(const float* x, std::int64_t count, Int8Levels scale, std::uint8_t* levels) {
  const auto low = static_cast<float>(-scale.zero);
  const auto high = static_cast<float>(255 - scale.zero);
  const float inverse = inverse_of(scale);
  for (std::int64_t i = 0; i < count; ++i) {
    levels[i] = level_of(x[i], inverse, low, high, scale.zero);
  }
}

#if HWY_ARCH_X86_64

// AVX2: bytes of a group as two pairs of 16 bits, the even and the odd ones.
HWY_PUSH_ATTRIBUTES("avx2")
namespace {

struct Avx2Add {
  template <int kRows, int kVectors>
  void operator()(const Walk& walk, const std::uint8_t* const* rows, const std::int8_t* panel,
                  std::int32_t* to) const {
    constexpr int kHalves = 2 * kVectors;
    for (int half = 0; half < kHalves; ++half) {
      __m256i sums[kRows];
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) {
        sums[r] =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(to + r * kInt8Panel + half * 8));
      }
      const std::int8_t* b = panel + half * 32;
      for (std::int64_t s = 0; s < walk.segments; ++s) {
        for (std::int64_t g = 0; g < walk.groups; ++g, b += kVectors * kVector) {
          const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
          const __m256i odd = _mm256_srai_epi16(w, 8);
          const __m256i even = _mm256_srai_epi16(_mm256_slli_epi16(w, 8), 8);
#pragma GCC unroll 6
          for (int r = 0; r < kRows; ++r) {
            std::int32_t bytes = 0;
            std::memcpy(&bytes, rows[r] + s * walk.stride + 4 * g, sizeof(bytes));
            const __m256i x = _mm256_set1_epi32(bytes);
            const __m256i low = _mm256_and_si256(x, _mm256_set1_epi16(0xFF));
            sums[r] = _mm256_add_epi32(sums[r], _mm256_madd_epi16(low, even));
            sums[r] = _mm256_add_epi32(sums[r], _mm256_madd_epi16(_mm256_srli_epi16(x, 8), odd));
          }
        }
      }
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + r * kInt8Panel + half * 8), sums[r]);
      }
    }
  }
};

void avx2_product(const Int8Rows& a, std::int64_t rows, const std::int8_t* panels,
                  std::int64_t columns, const Int8Tail& tail) {
  product_by<6>(a, rows, panels, columns, tail, Avx2Add());
}

}  // namespace
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx2,avxvnni")
namespace {

struct AvxVnniAdd {
  template <int kRows, int kVectors>
  void operator()(const Walk& walk, const std::uint8_t* const* rows, const std::int8_t* panel,
                  std::int32_t* to) const {
    constexpr int kHalves = 2 * kVectors;
    __m256i sums[kRows * kHalves];
#pragma GCC unroll 12
    for (int i = 0; i < kRows * kHalves; ++i) {
      sums[i] = _mm256_loadu_si256(
          reinterpret_cast<const __m256i*>(to + i / kHalves * kInt8Panel + i % kHalves * 8));
    }
    for (std::int64_t s = 0; s < walk.segments; ++s) {
      for (std::int64_t g = 0; g < walk.groups; ++g, panel += kVectors * kVector) {
#pragma GCC unroll 3
        for (int r = 0; r < kRows; ++r) {
          std::int32_t bytes = 0;
          std::memcpy(&bytes, rows[r] + s * walk.stride + 4 * g, sizeof(bytes));
          const __m256i x = _mm256_set1_epi32(bytes);
#pragma GCC unroll 4
          for (int h = 0; h < kHalves; ++h) {
            const __m256i w = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(panel + 32 * h));
            sums[r * kHalves + h] = _mm256_dpbusd_avx_epi32(sums[r * kHalves + h], x, w);
          }
        }
      }
    }
#pragma GCC unroll 12
    for (int i = 0; i < kRows * kHalves; ++i) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i / kHalves * kInt8Panel +
                                                     i % kHalves * 8),
                          sums[i]);
    }
  }
};

void avx_vnni_product(const Int8Rows& a, std::int64_t rows, const std::int8_t* panels,
                      std::int64_t columns, const Int8Tail& tail) {
  product_by<3>(a, rows, panels, columns, tail, AvxVnniAdd());
}

}  // namespace
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")
namespace {

HWY_INLINE __mmask16 mask_of(std::int64_t columns) {
  return static_cast<__mmask16>((1U << std::clamp<std::int64_t>(columns, 0, kLanes)) - 1U);
}

/// What follows the sums of one vector of columns, all of which are there if kFull. It holds
/// copies: stores of bytes might change what others hold.
template <bool kFull>
class VectorTail {
 public:
  HWY_INLINE VectorTail(const Int8Tail& tail, std::int64_t first, std::int64_t used)
      : mask_(mask_of(used)),
        stride_(tail.stride),
        residual_(tail.residual == nullptr ? nullptr : tail.residual + first),
        residual_levels_(tail.residual_levels == nullptr ? nullptr : tail.residual_levels + first),
        y_(tail.y == nullptr ? nullptr : tail.y + first),
        levels_(tail.levels == nullptr ? nullptr : tail.levels + first),
        factor_(_mm512_maskz_loadu_ps(mask_, tail.factor + first)),
        bias_(_mm512_maskz_loadu_ps(mask_, tail.bias + first)),
        residual_scale_(_mm512_set1_ps(tail.residual_scale.scale)),
        residual_zero_(_mm512_set1_epi32(tail.residual_scale.zero)),
        inverse_(_mm512_set1_ps(inverse_of(tail.scale))),
        low_(_mm512_set1_ps(static_cast<float>(-tail.scale.zero))),
        high_(_mm512_set1_ps(static_cast<float>(255 - tail.scale.zero))),
        zero_(_mm512_set1_epi32(tail.scale.zero)),
        relu_(tail.relu) {}

  HWY_INLINE void store(__m512i sums, std::int64_t row) const {
    const std::int64_t at = row * stride_;
    __m512 v = _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums), factor_), bias_);
    if (residual_ != nullptr) {
      v = _mm512_add_ps(v, kFull ? _mm512_loadu_ps(residual_ + at)
                                 : _mm512_maskz_loadu_ps(mask_, residual_ + at));
    }
    if (residual_levels_ != nullptr) {
      const auto* from = residual_levels_ + at;
      const __m128i bytes = kFull ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(from))
                                  : _mm_maskz_loadu_epi8(mask_, from);
      const __m512i levels = _mm512_sub_epi32(_mm512_cvtepu8_epi32(bytes), residual_zero_);
      v = _mm512_add_ps(v, _mm512_mul_ps(_mm512_cvtepi32_ps(levels), residual_scale_));
    }
    if (relu_) v = _mm512_max_ps(v, _mm512_setzero_ps());
    if (y_ != nullptr) {
      kFull ? _mm512_storeu_ps(y_ + at, v) : _mm512_mask_storeu_ps(y_ + at, mask_, v);
      return;
    }
    v = _mm512_min_ps(_mm512_max_ps(_mm512_mul_ps(v, inverse_), low_), high_);
    const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(v), zero_));
    if constexpr (kFull) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(levels_ + at), bytes);
    } else {
      _mm_mask_storeu_epi8(levels_ + at, mask_, bytes);
    }
  }
  /// Finishes `count` rows of a tile's sums, from row `row` on.
  HWY_INLINE void store_rows(const std::int32_t* sums, std::int64_t row, std::int64_t count) const {
    for (std::int64_t r = 0; r < count; ++r) {
      store(_mm512_load_si512(sums + r * kInt8Panel), row + r);
    }
  }

 private:
  __mmask16 mask_;
  std::int64_t stride_;
  const float* residual_;
  const std::uint8_t* residual_levels_;
  float* y_;
  std::uint8_t* levels_;
  __m512 factor_;
  __m512 bias_;
  __m512 residual_scale_;
  __m512i residual_zero_;
  __m512 inverse_;
  __m512 low_;
  __m512 high_;
  __m512i zero_;
  bool relu_;
};

/// The sums of a tile of kRows rows and kVectors vectors of columns.
template <int kRows, int kVectors>
struct Sums {
  HWY_INLINE void load(const std::int32_t* start, std::int64_t columns) {
#pragma GCC unroll 24
    for (int i = 0; i < kRows * kVectors; ++i) {
      const int v = i % kVectors;
      sums[i] = _mm512_maskz_loadu_epi32(mask_of(columns - v * kLanes), start + v * kLanes);
    }
  }
  HWY_INLINE void store(std::int32_t* to) const {
#pragma GCC unroll 24
    for (int i = 0; i < kRows * kVectors; ++i) {
      _mm512_storeu_si512(to + i / kVectors * kInt8Panel + i % kVectors * kLanes, sums[i]);
    }
  }
  /// Adds `groups` groups of terms; returns the panel's place after them.
  HWY_INLINE const std::int8_t* add(const std::uint8_t* const (&rows)[kRows], std::int64_t groups,
                                    const std::int8_t* panel) {
    for (std::int64_t g = 0; g < groups; ++g, panel += kVectors * kVector) {
      __m512i w[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) w[v] = _mm512_loadu_si512(panel + v * kVector);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        std::int32_t bytes = 0;
        std::memcpy(&bytes, rows[r] + 4 * g, sizeof(bytes));
        const __m512i x = _mm512_set1_epi32(bytes);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          sums[r * kVectors + v] = _mm512_dpbusd_epi32(sums[r * kVectors + v], x, w[v]);
        }
      }
    }
    return panel;
  }

  __m512i sums[kRows * kVectors];
};

template <int kRows, int kVectors>
void vnni_tile(const Walk& walk, const std::uint8_t* const* rows, const std::int8_t* panel,
               const std::int32_t* start, std::int64_t used, std::int32_t* to) {
  Sums<kRows, kVectors> sums;
  sums.load(start, used);
  const std::uint8_t* a[kRows];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) a[r] = rows[r];
  for (std::int64_t s = 0; s < walk.segments; ++s) {
    panel = sums.add(a, walk.groups, panel);
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) a[r] += walk.stride;
  }
  sums.store(to);
}

void avx512_vnni_product(const Int8Rows& a, std::int64_t rows, const std::int8_t* panels,
                         std::int64_t columns, const Int8Tail& tail) {
  constexpr int kMost = 12;  // x 2 sums, the panel's two vectors and a few broadcasts
  const Walk walk{a.segments, int8_groups(a.length), a.stride};
  for_tiles(a, rows, panels, columns, kMost,
            [&](const std::int8_t* panel, std::int64_t first, std::int64_t used, int vectors,
                std::int64_t row, std::int64_t count) {
              alignas(64) std::int32_t sums[kMost * kInt8Panel];
              with_shape<kMost>(count, vectors, [&]<int kRows, int kVectors>() {
                vnni_tile<kRows, kVectors>(walk, a.rows + row, panel, tail.start + first, used,
                                           sums);
              });
              for (int v = 0; v < vectors; ++v) {
                const std::int64_t from = first + v * kLanes;
                if (used - v * kLanes >= kLanes) {
                  VectorTail<true>(tail, from, kLanes).store_rows(sums + v * kLanes, row, count);
                } else {
                  VectorTail<false>(tail, from, used - v * kLanes)
                      .store_rows(sums + v * kLanes, row, count);
                }
              }
            });
}

}  // namespace
HWY_POP_ATTRIBUTES

namespace {

/// Asks a processor with AVX2.
bool has_avx_vnni() {
  constexpr unsigned kAvxVnni = 1U << 4U;
  return (ExtendedFeatures(1).a & kAvxVnni) != 0;
}

}  // namespace

const std::vector<Int8Unit>& int8_units() {
  static const std::vector<Int8Unit> units = [] {
    std::vector<Int8Unit> found;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    if (avx512 && __builtin_cpu_supports("avx512vnni")) found.push_back(Int8Unit::avx512_vnni);
    if (__builtin_cpu_supports("avx2")) {
      if (has_avx_vnni()) found.push_back(Int8Unit::avx_vnni);
      found.push_back(Int8Unit::avx2);
    }
    found.push_back(Int8Unit::plain);
    return found;
  }();
  return units;
}

void int8_product(Int8Unit unit, const Int8Rows& a, std::int64_t rows, const std::int8_t* panels,
                  std::int64_t columns, const Int8Tail& tail) {
  switch (unit) {
    case Int8Unit::avx512_vnni: return avx512_vnni_product(a, rows, panels, columns, tail);
    case Int8Unit::avx_vnni: return avx_vnni_product(a, rows, panels, columns, tail);
    case Int8Unit::avx2: return avx2_product(a, rows, panels, columns, tail);
    default: return plain_product(a, rows, panels, columns, tail);
  }
}

#elif defined(LINNET_INT8_NEON)

namespace {

/// Sums of kRows rows and 16 columns in four vectors of four columns.
template <int kRows>
struct NeonSums {
  void load(const std::int32_t* from) {
    for (int i = 0; i < 4 * kRows; ++i) at[i] = vld1q_s32(from + i / 4 * kInt8Panel + i % 4 * 4);
  }
  void store(std::int32_t* to) const {
    for (int i = 0; i < 4 * kRows; ++i) vst1q_s32(to + i / 4 * kInt8Panel + i % 4 * 4, at[i]);
  }
  int32x4_t at[4 * kRows];
};

uint8x16_t four_bytes(const std::uint8_t* from) {
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, from, sizeof(bytes));
  return vreinterpretq_u8_u32(vdupq_n_u32(bytes));
}

}  // namespace

HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+i8mm")
namespace {

struct UsdotAdd {
  template <int kRows, int kVectors>
  void operator()(const Walk& walk, const std::uint8_t* const* rows, const std::int8_t* panel,
                  std::int32_t* to) const {
    for (int vector = 0; vector < kVectors; ++vector) {
      NeonSums<kRows> sums;
      sums.load(to + vector * kLanes);
      const std::int8_t* b = panel + vector * kVector;
      for (std::int64_t s = 0; s < walk.segments; ++s) {
        for (std::int64_t g = 0; g < walk.groups; ++g, b += kVectors * kVector) {
          const int8x16x4_t w = {vld1q_s8(b), vld1q_s8(b + 16), vld1q_s8(b + 32), vld1q_s8(b + 48)};
#pragma GCC unroll 6
          for (int r = 0; r < kRows; ++r) {
            const uint8x16_t x = four_bytes(rows[r] + s * walk.stride + 4 * g);
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) {
              sums.at[4 * r + j] = vusdotq_s32(sums.at[4 * r + j], x, w.val[j]);
            }
          }
        }
      }
      sums.store(to + vector * kLanes);
    }
  }
};

void usdot_product(const Int8Rows& a, std::int64_t rows, const std::int8_t* panels,
                   std::int64_t columns, const Int8Tail& tail) {
  product_by<6>(a, rows, panels, columns, tail, UsdotAdd());
}

}  // namespace
HWY_POP_ATTRIBUTES

// SDOT takes signed bytes alone: activations are lowered by 128, and 128 times the sum of a
// column's weights is added again.
HWY_PUSH_ATTRIBUTES("arch=armv8.2-a+dotprod")
namespace {

struct SdotAdd {
  template <int kRows, int kVectors>
  void operator()(const Walk& walk, const std::uint8_t* const* rows, const std::int8_t* panel,
                  std::int32_t* to) const {
    for (int vector = 0; vector < kVectors; ++vector) {
      NeonSums<kRows> sums;
      sums.load(to + vector * kLanes);
      int32x4_t weights[4] = {};
      const std::int8_t* b = panel + vector * kVector;
      for (std::int64_t s = 0; s < walk.segments; ++s) {
        for (std::int64_t g = 0; g < walk.groups; ++g, b += kVectors * kVector) {
          const int8x16x4_t w = {vld1q_s8(b), vld1q_s8(b + 16), vld1q_s8(b + 32), vld1q_s8(b + 48)};
#pragma GCC unroll 4
          for (int j = 0; j < 4; ++j) weights[j] = vdotq_s32(weights[j], vdupq_n_s8(1), w.val[j]);
#pragma GCC unroll 5
          for (int r = 0; r < kRows; ++r) {
            const uint8x16_t bytes = four_bytes(rows[r] + s * walk.stride + 4 * g);
            const int8x16_t x = vreinterpretq_s8_u8(veorq_u8(bytes, vdupq_n_u8(0x80)));
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) {
              sums.at[4 * r + j] = vdotq_s32(sums.at[4 * r + j], x, w.val[j]);
            }
          }
        }
      }
      for (int i = 0; i < 4 * kRows; ++i) {
        sums.at[i] = vaddq_s32(sums.at[i], vshlq_n_s32(weights[i % 4], 7));
      }
      sums.store(to + vector * kLanes);
    }
  }
};

void sdot_product(const Int8Rows& a, std::int64_t rows, const std::int8_t* panels,
                  std::int64_t columns, const Int8Tail& tail) {
  product_by<5>(a, rows, panels, columns, tail, SdotAdd());
}

}  // namespace
HWY_POP_ATTRIBUTES

const std::vector<Int8Unit>& int8_units() {
  static const std::vector<Int8Unit> units = [] {
    std::vector<Int8Unit> found;
    if ((getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0) found.push_back(Int8Unit::neon_i8mm);
    if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) found.push_back(Int8Unit::neon_dot);
    found.push_back(Int8Unit::plain);
    return found;
  }();
  return units;
}

void int8_product(Int8Unit unit, const Int8Rows& a, std::int64_t rows, const std::int8_t* panels,
                  std::int64_t columns, const Int8Tail& tail) {
  switch (unit) {
    case Int8Unit::neon_i8mm: return usdot_product(a, rows, panels, columns, tail);
    case Int8Unit::neon_dot: return sdot_product(a, rows, panels, columns, tail);
    default: return plain_product(a, rows, panels, columns, tail);
  }
}

#else

const std::vector<Int8Unit>& int8_units() {
  static const std::vector<Int8Unit> units{Int8Unit::plain};
  return units;
}

void int8_product(Int8Unit /*unit*/, const Int8Rows& a, std::int64_t rows,
                  const std::int8_t* panels, std::int64_t columns, const Int8Tail& tail) {
  plain_product(a, rows, panels, columns, tail);
}

#endif

}  // namespace linnet::cpu
