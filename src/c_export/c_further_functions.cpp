// SPDX-License-Identifier: Apache-2.0
// Functions of generated C files, after those of c_functions.cpp: they move numbers, multiply
// matrices, compute ids.
#include "c_export/c_functions.h"

namespace linnet {

const std::vector<CFunction>& further_c_functions() {
  static const std::string kAveragePoolGrad = over_windows(
      R"(/* Each pixel of a window gets an equal part of dy, which is named y. */
static void avg_pool2d_grad(const float *y, float *dx, int h, int w, int channels, int oh, int ow, int size_h,
                            int size_w, int stride_h, int stride_w, int pad_top, int pad_left) {
  const float share = 1.0f / (float)(size_h * size_w);
  for (int i = 0; i < h * w * channels; ++i) dx[i] = 0.0f;
)",
      "",
      R"(          for (int c = 0; c < channels; ++c) dx[(row * w + column) * channels + c] += share * y[c];
)");
  static const std::vector<CFunction> kAll{
      {"avg_pool2d_grad", {}, kAveragePoolGrad},
      {"log_softmax_grad",
       {},
       R"(/* dx of y = log_softmax(x), from y and dy. */
static void log_softmax_grad(const float *y, const float *dy, float *dx, int rows, int width) {
  for (int r = 0; r < rows; ++r, y += width, dy += width, dx += width) {
    float sum = 0.0f;
    for (int c = 0; c < width; ++c) sum += dy[c];
    for (int c = 0; c < width; ++c) dx[c] = dy[c] - expf(y[c]) * sum;
  }
}
)"},
      {"take", {}, R"(/* y (dims) from x, whose elements lie by strides. */
static void take(const float *x, float *y, int rank, const int *dims, const int *strides) {
  const int last = rank - 1;
  int at[8] = {0};
  for (;;) {
    for (int i = 0; i < dims[last]; ++i) *y++ = x[i * strides[last]];
    int axis = last - 1;
    for (; axis >= 0 && ++at[axis] == dims[axis]; --axis) {
      x -= (dims[axis] - 1) * strides[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
    x += strides[axis];
  }
}
)"},
      {"pad", {}, R"(/* y (rows, before + width + after) from x (rows, width). */
static void pad(const float *x, float *y, int rows, int before, int width, int after, float value) {
  for (int r = 0; r < rows; ++r, x += width) {
    for (int i = 0; i < before; ++i) *y++ = value;
    memcpy(y, x, sizeof(float) * (size_t)width);
    y += width;
    for (int i = 0; i < after; ++i) *y++ = value;
  }
}
)"},
      {"gather_axis",
       {},
       R"(/* y (rows, count, inner) from x (rows, dim, inner); an id outside of dim gives NaN. */
static void gather_axis(const float *x, const int32_t *ids, float *y, int rows, int dim, int count, int inner,
                        int step, int row_step) {
  for (int r = 0; r < rows; ++r, x += dim * inner, ids += row_step) {
    for (int j = 0; j < count; ++j) {
      for (int i = 0; i < inner; ++i) {
        const int32_t id = ids[j * step + (step > 1 ? i : 0)];
        *y++ = id < 0 || id >= dim ? NAN : x[id * inner + i];
      }
    }
  }
}
)"},
      {"upsample2d", {}, R"(/* Half-pixel centres, as in PyTorch. */
static void upsample2d(const float *x, float *y, int h, int w, int channels, int oh, int ow, int bilinear) {
  for (int i = 0; i < oh; ++i) {
    const float v = bilinear ? fmaxf(((float)i + 0.5f) * (float)h / (float)oh - 0.5f, 0.0f) : 0.0f;
    const int top = bilinear ? (int)v : (int)((int64_t)i * h / oh);
    const int below = bilinear && top + 1 < h ? top + 1 : top;
    for (int j = 0; j < ow; ++j, y += channels) {
      const float u = bilinear ? fmaxf(((float)j + 0.5f) * (float)w / (float)ow - 0.5f, 0.0f) : 0.0f;
      const int left = bilinear ? (int)u : (int)((int64_t)j * w / ow);
      const int right = bilinear && left + 1 < w ? left + 1 : left;
      const float *a = x + (top * w + left) * channels, *b = x + (top * w + right) * channels;
      const float *c = x + (below * w + left) * channels, *d = x + (below * w + right) * channels;
      const float s = bilinear ? v - (float)top : 0.0f, t = bilinear ? u - (float)left : 0.0f;
      for (int k = 0; k < channels; ++k) {
        y[k] = (1.0f - s) * ((1.0f - t) * a[k] + t * b[k]) + s * ((1.0f - t) * c[k] + t * d[k]);
      }
    }
  }
}
)"},
      {"matmul",
       {},
       R"(/* Products of matrices (m, k) and (k, n); ta, tb: stored as (k, m), (n, k). */
static void matmul(const float *a, const float *b, float *y, int products, int m, int n, int k, int ta, int tb) {
  for (int p = 0; p < products; ++p, a += m * k, b += k * n) {
    for (int i = 0; i < m; ++i, y += n) {
      for (int j = 0; j < n; ++j) y[j] = 0.0f;
      for (int l = 0; l < k && !tb; ++l) {
        const float s = ta ? a[l * m + i] : a[i * k + l];
        for (int j = 0; j < n; ++j) y[j] += s * b[l * n + j];
      }
      for (int j = 0; j < n && tb; ++j) {
        for (int l = 0; l < k; ++l) y[j] += (ta ? a[l * m + i] : a[i * k + l]) * b[j * k + l];
      }
    }
  }
}
)"},
      {"conv_transpose2d",
       {"accumulate", "finish"},
       R"(/* Adds a kernel for each pixel of x (h, w, channels); weight (groups, kh, kw, channels / groups, filters / groups). */
static void conv_transpose2d(const float *x, const @W@ *weight@S@, float *y, int h, int w, int channels, int oh,
                             int ow, int filters, int kh, int kw, int stride_h, int stride_w, int dilation_h,
                             int dilation_w, int pad_top, int pad_left, int groups) {
  const int in = channels / groups, units = filters / groups;
  for (int i = 0; i < oh * ow * filters; ++i) y[i] = 0.0f;
  for (int i = 0; i < h; ++i) {
    for (int j = 0; j < w; ++j, x += channels) {
      for (int t = 0; t < groups * kh * kw; ++t) {
        const int g = t / (kh * kw), row = i * stride_h - pad_top + t / kw % kh * dilation_h;
        const int column = j * stride_w - pad_left + t % kw * dilation_w;
        if (row < 0 || row >= oh || column < 0 || column >= ow) continue;
        accumulate(x + g * in, weight + t * in * units, y + (row * ow + column) * filters + g * units, in, units);
      }
    }
  }
  @FT@
}
)"},
      {"arg_reduce",
       {},
       R"(/* The first place of the largest number along the middle axis, or of the smallest. */
static void arg_reduce(const float *x, int32_t *y, int outer, int count, int inner, int largest) {
  for (int o = 0; o < outer; ++o, x += count * inner) {
    for (int i = 0; i < inner; ++i) {
      int best = 0;
      for (int k = 1; k < count; ++k) {
        const float a = x[k * inner + i], b = x[best * inner + i];
        if (a != a ? b == b : largest ? a > b : a < b) best = k;
      }
      *y++ = best;
    }
  }
}
)"},
      {"cumsum", {}, R"(/* Sums along the middle axis of all up to each element, or from it on. */
static void cumsum(const float *x, float *y, int outer, int count, int inner, int reverse) {
  for (int o = 0; o < outer; ++o, x += count * inner, y += count * inner) {
    for (int i = 0; i < inner; ++i) {
      float sum = 0.0f;
      for (int k = 0; k < count; ++k) {
        const int at = (reverse ? count - 1 - k : k) * inner + i;
        y[at] = sum += x[at];
      }
    }
  }
}
)"},
      {"causal_mask", {}, R"(/* Matrices (rows, width), with `fill` right of the diagonal. */
static void causal_mask(const float *x, float *y, int matrices, int rows, int width, float fill) {
  for (int i = 0; i < matrices * rows; ++i) {
    for (int j = 0; j < width; ++j, ++x) *y++ = j > i % rows ? fill : *x;
  }
}
)"},
      {"one_hot", {}, R"(static void one_hot(const int32_t *ids, float *y, int count, int classes) {
  for (int i = 0; i < count; ++i) {
    for (int c = 0; c < classes; ++c) *y++ = ids[i] == c ? 1.0f : 0.0f;
  }
}
)"},
      {"to_ids", {}, R"(/* Rounds towards zero; -1 for what an int32_t does not hold. */
static void to_ids(const float *x, int32_t *y, int count) {
  for (int i = 0; i < count; ++i) y[i] = x[i] >= -2147483648.0f && x[i] < 2147483648.0f ? (int32_t)x[i] : -1;
}
)"},
      {"gru_original",
       {"gates", "sigmoid"},
       R"(/* As gru(), with the reset gate before the product with w_hh. */
static void gru_original(const float *x, const @W@ *w_ih@SI@, const @W@ *w_hh@SH@, const float *b_ih,
                         const float *b_hh, float *y, float *last, float *scratch, int steps, int features, int units,
                         int reverse) {
  float *h = scratch, *a = h + units, *c = a + 3 * units;
  for (int u = 0; u < units; ++u) h[u] = 0.0f;
  for (int s = 0; s < steps; ++s) {
    const int t = reverse ? steps - 1 - s : s;
    gates(x + t * features, w_ih@sI@, b_ih, a, features, 3 * units);
    gates(h, w_hh@sH@, b_hh, c, units, 3 * units);
    for (int u = 0; u < units; ++u) {
      a[u] = sigmoid(a[u] + c[u]) * h[u];
      a[units + u] = sigmoid(a[units + u] + c[units + u]);
    }
    gates(a, w_hh@sH@, b_hh, c, units, 3 * units);
    for (int u = 0; u < units; ++u) {
      const float z = a[units + u], n = tanhf(a[2 * units + u] + c[2 * units + u]);
      h[u] = (1.0f - z) * n + z * h[u];
      if (y) y[t * units + u] = h[u];
    }
  }
  if (last) memcpy(last, h, sizeof(float) * (size_t)units);
}
)"},
  };
  return kAll;
}

}  // namespace linnet
