// SPDX-License-Identifier: Apache-2.0
// Functions of generated C files that compute in 8 bits. Levels lie in 16 bits, less the level of
// 0, so that padding is zeros and a pair of products fits one instruction (PMADDWD).
#include "c_export/c_functions.h"

namespace linnet {

const std::vector<CFunction>& level_c_functions() {
  static const std::string kMaxPool = over_windows(
      R"(static void max_pool_levels(const int16_t *x, int16_t *y, int h, int w, int channels, int oh, int ow, int size_h,
                            int size_w, int stride_h, int stride_w, int pad_top, int pad_left) {
)",
      R"(      for (int c = 0; c < channels; ++c) y[c] = INT16_MIN;
)",
      R"(          const int16_t *pixel = x + (row * w + column) * channels;
          int c = 0;
          for (; c + 8 <= channels; c += 8) {
            int16_t *restrict to = y + c;
            for (int m = 0; m < 8; ++m) to[m] = pixel[c + m] > to[m] ? pixel[c + m] : to[m];
          }
          for (; c < channels; ++c) y[c] = pixel[c] > y[c] ? pixel[c] : y[c];
)");
  static const std::vector<CFunction> kAll{
      {"level",
       {},
       R"(#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif
/* The nearest whole number from low to high, of two the even one; low of NaN. */
static float level(float x, float low, float high) {
  const float above = x > low ? x : low;
  const float shifted = (above < high ? above : high) + 12582912.0f; /* floats of this size are whole */
  return shifted - 12582912.0f;
}
)"},
      {"to_levels",
       {"level"},
       R"(static void to_levels(const float *restrict x, int16_t *restrict y, int count, float inverse, float low, float high) {
  for (; count >= 16; count -= 16, x += 16, y += 16) {
    for (int i = 0; i < 16; ++i) y[i] = (int16_t)level(x[i] * inverse, low, high);
  }
  for (int i = 0; i < count; ++i) y[i] = (int16_t)level(x[i] * inverse, low, high);
}
)"},
      {"to_values",
       {"level"},
       R"(static void to_values(const float *x, float *y, int count, float inverse, float low, float high, float scale) {
  for (int i = 0; i < count; ++i) y[i] = level(x[i] * inverse, low, high) * scale;
}
)"},
      {"max_pool_levels", {}, kMaxPool},
      {"mean_of_levels",
       {},
       R"(static void mean_of_levels(const int16_t *x, float *y, int pixels, int channels, float scale) {
  for (int c = 0; c < channels; ++c) {
    int32_t sum = 0;
    for (int i = 0; i < pixels; ++i) sum += x[i * channels + c];
    y[c] = (float)sum * scale;
  }
}
)"},
      {"multiply",
       {},
       R"(#if defined(__GNUC__) && defined(__AVX2__)
#include <immintrin.h>
#define LANES 8
typedef int32_t lanes __attribute__((vector_size(32)));
static lanes zeros(void) { return (lanes)_mm256_setzero_si256(); }
static lanes twice(int32_t pair) { return (lanes)_mm256_set1_epi32(pair); }
static lanes widened(const int8_t *w) { return (lanes)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)w)); }
static lanes with(lanes sum, lanes x, lanes w) { return sum + (lanes)_mm256_madd_epi16((__m256i)x, (__m256i)w); }
static void store(int32_t *to, lanes sum) { _mm256_storeu_si256((__m256i *)to, (__m256i)sum); }
#elif defined(__GNUC__) && defined(__SSE2__)
#include <emmintrin.h>
#define LANES 4
typedef int32_t lanes __attribute__((vector_size(16)));
static lanes zeros(void) { return (lanes)_mm_setzero_si128(); }
static lanes twice(int32_t pair) { return (lanes)_mm_set1_epi32(pair); }
static lanes widened(const int8_t *w) {
  const __m128i bytes = _mm_loadl_epi64((const __m128i *)w);
  return (lanes)_mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
}
static lanes with(lanes sum, lanes x, lanes w) { return sum + (lanes)_mm_madd_epi16((__m128i)x, (__m128i)w); }
static void store(int32_t *to, lanes sum) { _mm_storeu_si128((__m128i *)to, (__m128i)sum); }
#endif

/* sums (rows, 16) = x w: rows of x lie `step` apart, each of `segments` runs of pairs that lie `run` apart;
   w (segments, pairs, 16, 2). multiply_rows() takes 4 rows, multiply_row() one. */
#if defined(LANES)
static lanes pair(const int16_t *x) {
  int32_t both;
  memcpy(&both, x, sizeof(both));
  return twice(both);
}
static void multiply_rows(const int16_t *x, int step, const int8_t *w, int32_t *sums, int segments, int pairs, int run) {
  for (int c = 0; c < 16; c += 2 * LANES) {
    lanes a0 = zeros(), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    const int8_t *v = w + 2 * c;
    for (int s = 0; s < segments; ++s) {
      const int16_t *p = x + s * run;
      for (int k = 0; k < pairs; ++k, p += 2, v += 32) {
        const lanes a = widened(v), b = widened(v + 2 * LANES);
        lanes both = pair(p);
        a0 = with(a0, both, a), b0 = with(b0, both, b), both = pair(p + step);
        a1 = with(a1, both, a), b1 = with(b1, both, b), both = pair(p + 2 * step);
        a2 = with(a2, both, a), b2 = with(b2, both, b), both = pair(p + 3 * step);
        a3 = with(a3, both, a), b3 = with(b3, both, b);
      }
    }
    store(sums + c, a0), store(sums + c + LANES, b0), store(sums + 16 + c, a1), store(sums + 16 + c + LANES, b1);
    store(sums + 32 + c, a2), store(sums + 32 + c + LANES, b2);
    store(sums + 48 + c, a3), store(sums + 48 + c + LANES, b3);
  }
}
static void multiply_row(const int16_t *x, const int8_t *w, int32_t *sums, int segments, int pairs, int run) {
  for (int c = 0; c < 16; c += 2 * LANES) {
    lanes a0 = zeros(), b0 = a0;
    const int8_t *v = w + 2 * c;
    for (int s = 0; s < segments; ++s) {
      const int16_t *p = x + s * run;
      for (int k = 0; k < pairs; ++k, p += 2, v += 32) {
        const lanes p0 = pair(p);
        a0 = with(a0, p0, widened(v)), b0 = with(b0, p0, widened(v + 2 * LANES));
      }
    }
    store(sums + c, a0), store(sums + c + LANES, b0);
  }
}
#else
static void multiply_row(const int16_t *x, const int8_t *w, int32_t *sums, int segments, int pairs, int run) {
  int32_t s16[16] = {0};
  for (int s = 0; s < segments; ++s) {
    const int16_t *p = x + s * run;
    for (int k = 0; k < pairs; ++k, p += 2, w += 32) {
      const int a = p[0], b = p[1];
      for (int o = 0; o < 16; ++o) s16[o] += a * w[2 * o] + b * w[2 * o + 1];
    }
  }
  memcpy(sums, s16, sizeof(s16));
}
static void multiply_rows(const int16_t *x, int step, const int8_t *w, int32_t *sums, int segments, int pairs, int run) {
  for (int r = 0; r < 4; ++r) multiply_row(x + r * step, w, sums + 16 * r, segments, pairs, run);
}
#endif
)"},
      {"product",
       {"level", "multiply"},
       R"(/* What follows a sum: y = relu?(sum factor + bias + kept kept_scale + added), or its level. */
struct tail {
  const float *factor, *bias;
  const int16_t *kept;
  float kept_scale;
  const float *added;
  int relu;
  float *y;
  int16_t *levels;
  float inverse, low, high;
};
/* Finishes 16 sums, of which the first `used` belong to element `at` of the result and those after it. */
static void finish_sums(const int32_t *restrict sums, const struct tail *t, int column, int at, int used) {
  const float *restrict factor = t->factor + column, *restrict bias = t->bias + column;
  float v[16];
  for (int o = 0; o < 16; ++o) v[o] = (float)sums[o] * factor[o] + bias[o];
  for (int o = 0; t->added && o < used; ++o) v[o] += t->added[at + o];
  if (t->kept) {
    int16_t kept[16] = {0};
    if (used == 16) {
      memcpy(kept, t->kept + at, sizeof(kept));
    } else {
      memcpy(kept, t->kept + at, sizeof(int16_t) * (size_t)used);
    }
    for (int o = 0; o < 16; ++o) v[o] += (float)kept[o] * t->kept_scale;
  }
  if (t->relu) {
    for (int o = 0; o < 16; ++o) v[o] = v[o] > 0.0f ? v[o] : 0.0f;
  }
  if (t->y) memcpy(t->y + at, v, sizeof(float) * (size_t)used);
  if (t->levels) {
    int16_t to[16];
    for (int o = 0; o < 16; ++o) to[o] = (int16_t)level(v[o] * t->inverse, t->low, t->high);
    if (used == 16) {
      memcpy(t->levels + at, to, sizeof(to));
    } else {
      memcpy(t->levels + at, to, sizeof(int16_t) * (size_t)used);
    }
  }
}
/* Lines of `pixels` rows of x, which lie `step` apart, the lines `jump`; w: 16 columns after the other. */
static void product(const int16_t *x, const int8_t *w, const struct tail *t, int lines, int pixels, int columns,
                    int segments, int pairs, int run, int step, int jump) {
  int32_t sums[64];
  for (int i = 0; i < lines; ++i, x += jump) {
    for (int j = 0; j < pixels;) {
      const int rows = pixels < 4 ? 1 : 4;
      if (j + rows > pixels) j = pixels - rows; /* some again */
      const int8_t *panel = w;
      for (int c = 0; c < columns; c += 16, panel += 32 * segments * pairs) {
        if (rows == 4) {
          multiply_rows(x + j * step, step, panel, sums, segments, pairs, run);
        } else {
          multiply_row(x + j * step, panel, sums, segments, pairs, run);
        }
        for (int r = 0; r < rows; ++r) {
          finish_sums(sums + 16 * r, t, c, (i * pixels + j + r) * columns + c, columns - c < 16 ? columns - c : 16);
        }
      }
      j += rows;
    }
  }
}
)"},
      {"frame",
       {},
       R"(/* y (rows, width): lines of x (h, w) from (top, left) on, zeros elsewhere. */
static void frame(const int16_t *x, int16_t *y, int h, int w, int rows, int width, int top, int left) {
  const int inside = w < width - left ? w : width - left;
  memset(y, 0, sizeof(int16_t) * (size_t)(rows * width));
  for (int i = 0; i < h && i + top < rows; ++i) {
    memcpy(y + (i + top) * width + left, x + i * w, sizeof(int16_t) * (size_t)inside);
  }
}
)"},
  };
  return kAll;
}

}  // namespace linnet
