// SPDX-License-Identifier: Apache-2.0
#include "c_export/c_functions.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace linnet {
namespace {

// All arrays are row-major; images are (height, width, channels). Weights lie with the output
// channel last, so that the innermost loops run along it and need no other order of sums.
const std::vector<CFunction>& first_functions() {
  static const std::string kMaxPool = over_windows(
      R"(static void max_pool2d(const float *x, float *y, int h, int w, int channels, int oh, int ow, int size_h, int size_w,
                       int stride_h, int stride_w, int pad_top, int pad_left) {
)",
      R"(      for (int c = 0; c < channels; ++c) y[c] = -INFINITY;
)",
      R"(          const float *pixel = x + (row * w + column) * channels;
          for (int c = 0; c < channels; ++c) y[c] = pixel[c] <= y[c] ? y[c] : pixel[c];
)");
  static const std::string kAveragePool = over_windows(
      R"(/* Padding counts as zeros. */
static void avg_pool2d(const float *x, float *y, int h, int w, int channels, int oh, int ow, int size_h, int size_w,
                       int stride_h, int stride_w, int pad_top, int pad_left) {
  const float share = 1.0f / (float)(size_h * size_w);
)",
      R"(      for (int c = 0; c < channels; ++c) y[c] = 0.0f;
)",
      R"(          for (int c = 0; c < channels; ++c) y[c] += x[(row * w + column) * channels + c];
)",
      R"(      for (int c = 0; c < channels; ++c) y[c] *= share;
)");
  static const std::vector<CFunction> kAll{
      {"begin", {}, R"(/* What sums begin with. */
static void begin(float *restrict y@BP@, int width) {
  for (int o = 0; o < width; ++o) y[o] = @B@;
}
)"},
      {"finish", {}, R"(/* y = y scale + bias: from the integers' units to the weights'. */
static void finish(float *restrict y, const float *restrict scale, const float *restrict bias, int width) {
  for (int o = 0; o < width; ++o) y[o] = y[o] * scale[o] + (bias ? bias[o] : 0.0f);
}
)"},
      {"accumulate", {}, R"(/* y += x w: x (count), w (count, width), y (width). */
static void accumulate(const float *restrict x, const @W@ *restrict w, float *restrict y, int count, int width) {
  int k = 0;
  for (; k + 4 <= count; k += 4, w += 4 * width) {
    const float a = x[k], b = x[k + 1], c = x[k + 2], d = x[k + 3];
    for (int o = 0; o < width; ++o) {
      y[o] += a * (float)w[o] + b * (float)w[width + o] + c * (float)w[2 * width + o] + d * (float)w[3 * width + o];
    }
  }
  for (; k < count; ++k, w += width) {
    const float a = x[k];
    for (int o = 0; o < width; ++o) y[o] += a * (float)w[o];
  }
}
)"},
      {"dense",
       {"begin", "accumulate", "finish"},
       R"(/* y = x w + bias: x (rows, features), w (features, units). */
static void dense(const float *x, const @W@ *w@S@, const float *bias, float *y, int rows, int features, int units) {
  for (int r = 0; r < rows; ++r, x += features, y += units) {
    begin(y@b@, units);
    accumulate(x, w, y, features, units);
    @F@
  }
}
)"},
      {"conv2d",
       {"begin", "accumulate", "finish"},
       R"(/* A cross-correlation: x (h, w, channels), weight (groups, kh, kw, channels / groups, filters / groups). */
static void conv2d(const float *x, const @W@ *weight@S@, const float *bias, float *y, int h, int w, int channels,
                   int oh, int ow, int filters, int kh, int kw, int stride_h, int stride_w, int dilation_h,
                   int dilation_w, int pad_top, int pad_left, int groups) {
  const int in = channels / groups, units = filters / groups;
  for (int i = 0; i < oh; ++i) {
    for (int j = 0; j < ow; ++j, y += filters) {
      begin(y@b@, filters);
      for (int g = 0; g < groups; ++g) {
        for (int k = 0; k < kh; ++k) {
          const int row = i * stride_h - pad_top + k * dilation_h;
          if (row < 0 || row >= h) continue;
          const @W@ *line = weight + (g * kh + k) * kw * in * units;
          const int first = j * stride_w - pad_left;
          if (groups == 1 && dilation_w == 1 && first >= 0 && first + kw <= w) {
            accumulate(x + (row * w + first) * channels, line, y, kw * channels, units);
            continue;
          }
          for (int l = 0; l < kw; ++l) {
            const int column = first + l * dilation_w;
            if (column < 0 || column >= w) continue;
            accumulate(x + (row * w + column) * channels + g * in, line + l * in * units, y + g * units, in, units);
          }
        }
      }
      @FC@
    }
  }
}
)"},
      {"max_pool2d", {}, kMaxPool},
      {"avg_pool2d", {}, kAveragePool},
      {"bin_mean2d",
       {},
       R"(/* Bins are cut at the image's edge; size_h 0: oh by ow of them cover the image. */
static void bin_mean2d(const float *x, float *y, int h, int w, int channels, int oh, int ow, int size_h, int size_w,
                       int stride_h, int stride_w, int pad_top, int pad_left) {
  for (int i = 0; i < oh; ++i) {
    const int above = size_h ? i * stride_h - pad_top : i * h / oh, top = above < 0 ? 0 : above;
    const int below = size_h ? above + size_h : ((i + 1) * h + oh - 1) / oh, bottom = below > h ? h : below;
    for (int j = 0; j < ow; ++j, y += channels) {
      const int before = size_w ? j * stride_w - pad_left : j * w / ow, left = before < 0 ? 0 : before;
      const int after = size_w ? before + size_w : ((j + 1) * w + ow - 1) / ow, right = after > w ? w : after;
      for (int c = 0; c < channels; ++c) y[c] = 0.0f;
      for (int row = top; row < bottom; ++row) {
        for (int column = left; column < right; ++column) {
          for (int c = 0; c < channels; ++c) y[c] += x[(row * w + column) * channels + c];
        }
      }
      for (int c = 0; c < channels; ++c) y[c] /= (float)((bottom - top) * (right - left));
    }
  }
}
)"},
      {"reduce",
       {},
       R"(/* Along the middle axis: 's' sums, 'm' takes means, '>' and '<' the largest and the smallest. */
static void reduce(const float *x, float *y, int outer, int count, int inner, char kind) {
  for (int o = 0; o < outer; ++o, x += count * inner, y += inner) {
    for (int i = 0; i < inner; ++i) y[i] = x[i];
    for (int k = 1; k < count; ++k) {
      for (int i = 0; i < inner; ++i) {
        const float a = x[k * inner + i];
        if (kind == '>' || kind == '<') {
          y[i] = a != a || (kind == '>' ? a > y[i] : a < y[i]) ? a : y[i];
        } else {
          y[i] += a;
        }
      }
    }
    for (int i = 0; kind == 'm' && i < inner; ++i) y[i] /= (float)count;
  }
}
)"},
      {"global_avg_pool",
       {},
       R"(static void global_avg_pool(const float *x, float *y, int pixels, int channels) {
  for (int c = 0; c < channels; ++c) y[c] = 0.0f;
  for (int i = 0; i < pixels; ++i) {
    for (int c = 0; c < channels; ++c) y[c] += x[i * channels + c];
  }
  for (int c = 0; c < channels; ++c) y[c] /= (float)pixels;
}
)"},
      {"global_max_pool",
       {},
       R"(static void global_max_pool(const float *x, float *y, int pixels, int channels) {
  for (int c = 0; c < channels; ++c) y[c] = x[c];
  for (int i = 1; i < pixels; ++i) {
    for (int c = 0; c < channels; ++c) y[c] = x[i * channels + c] <= y[c] ? y[c] : x[i * channels + c];
  }
}
)"},
      {"scale_channels", {}, R"(/* y = x scale + shift, channel by channel. */
static void scale_channels(const float *x, const float *scale, const float *shift, float *y, int rows, int channels) {
  for (int r = 0; r < rows; ++r, x += channels, y += channels) {
    for (int c = 0; c < channels; ++c) y[c] = x[c] * scale[c] + shift[c];
  }
}
)"},
      {"add_scaled_channels",
       {},
       R"(/* y = x scale + shift + added. */
static void add_scaled_channels(const float *x, const float *scale, const float *shift, const float *added, float *y,
                                int rows, int channels) {
  for (int i = 0; i < rows * channels; ++i) {
    y[i] = x[i] * scale[i % channels] + shift[i % channels] + added[i];
  }
}
)"},
      {"add_bias",
       {},
       R"(static void add_bias(const float *x, const float *bias, float *y, int rows, int channels) {
  for (int r = 0; r < rows; ++r, x += channels, y += channels) {
    for (int c = 0; c < channels; ++c) y[c] = x[c] + bias[c];
  }
}
)"},
      {"group_norm",
       {},
       R"(/* x (rows, pixels, channels), the statistics of each row and group of channels alone. */
static void group_norm(const float *x, const float *weight, const float *bias, float *y, int rows, int pixels,
                       int channels, int groups, float epsilon) {
  const int width = channels / groups;
  for (int r = 0; r < rows; ++r, x += pixels * channels, y += pixels * channels) {
    for (int g = 0; g < groups; ++g) {
      float mean = 0.0f, variance = 0.0f;
      for (int p = 0; p < pixels; ++p) {
        for (int c = g * width; c < (g + 1) * width; ++c) mean += x[p * channels + c];
      }
      mean /= (float)(pixels * width);
      for (int p = 0; p < pixels; ++p) {
        for (int c = g * width; c < (g + 1) * width; ++c) {
          const float d = x[p * channels + c] - mean;
          variance += d * d;
        }
      }
      const float factor = 1.0f / sqrtf(variance / (float)(pixels * width) + epsilon);
      for (int p = 0; p < pixels; ++p) {
        for (int c = g * width; c < (g + 1) * width; ++c) {
          y[p * channels + c] = (x[p * channels + c] - mean) * factor * weight[c] + bias[c];
        }
      }
    }
  }
}
)"},
      {"group_norm_tangent",
       {},
       R"(/* dy of y = group_norm(x), from x and dx. */
static void group_norm_tangent(const float *x, const float *dx, const float *weight, float *dy, int rows, int pixels,
                               int channels, int groups, float epsilon) {
  const int width = channels / groups;
  const float count = (float)(pixels * width);
  for (int r = 0; r < rows; ++r, x += pixels * channels, dx += pixels * channels, dy += pixels * channels) {
    for (int g = 0; g < groups; ++g) {
      float mean = 0.0f, slope = 0.0f, variance = 0.0f, product = 0.0f;
      for (int p = 0; p < pixels; ++p) {
        for (int c = g * width; c < (g + 1) * width; ++c) {
          mean += x[p * channels + c] / count;
          slope += dx[p * channels + c] / count;
        }
      }
      for (int p = 0; p < pixels; ++p) {
        for (int c = g * width; c < (g + 1) * width; ++c) {
          const float d = x[p * channels + c] - mean;
          variance += d * d / count;
          product += d * dx[p * channels + c] / count;
        }
      }
      const float factor = 1.0f / sqrtf(variance + epsilon);
      const float turn = product * factor * factor;
      for (int p = 0; p < pixels; ++p) {
        for (int c = g * width; c < (g + 1) * width; ++c) {
          const int i = p * channels + c;
          dy[i] = (dx[i] - slope - (x[i] - mean) * turn) * factor * weight[c];
        }
      }
    }
  }
}
)"},
      {"softmax", {}, R"(static void softmax(const float *x, float *y, int rows, int width) {
  for (int r = 0; r < rows; ++r, x += width, y += width) {
    float most = x[0], sum = 0.0f;
    for (int c = 1; c < width; ++c) most = x[c] > most ? x[c] : most;
    for (int c = 0; c < width; ++c) sum += y[c] = expf(x[c] - most);
    for (int c = 0; c < width; ++c) y[c] /= sum;
  }
}
)"},
      {"log_softmax",
       {},
       R"(static void log_softmax(const float *x, float *y, int rows, int width) {
  for (int r = 0; r < rows; ++r, x += width, y += width) {
    float most = x[0], sum = 0.0f;
    for (int c = 1; c < width; ++c) most = x[c] > most ? x[c] : most;
    for (int c = 0; c < width; ++c) sum += expf(x[c] - most);
    for (int c = 0; c < width; ++c) y[c] = x[c] - most - logf(sum);
  }
}
)"},
      {"softmax_tangent",
       {},
       R"(/* dy of y = softmax(x), from y and dx. */
static void softmax_tangent(const float *y, const float *dx, float *dy, int rows, int width) {
  for (int r = 0; r < rows; ++r, y += width, dx += width, dy += width) {
    float mean = 0.0f;
    for (int c = 0; c < width; ++c) mean += y[c] * dx[c];
    for (int c = 0; c < width; ++c) dy[c] = y[c] * (dx[c] - mean);
  }
}
)"},
      {"log_softmax_tangent",
       {},
       R"(/* dy of y = log_softmax(x), from y and dx. */
static void log_softmax_tangent(const float *y, const float *dx, float *dy, int rows, int width) {
  for (int r = 0; r < rows; ++r, y += width, dx += width, dy += width) {
    float mean = 0.0f;
    for (int c = 0; c < width; ++c) mean += expf(y[c]) * dx[c];
    for (int c = 0; c < width; ++c) dy[c] = dx[c] - mean;
  }
}
)"},
      {"gelu_tanh_slope",
       {},
       R"(static float gelu_tanh_slope(float x) {
  const float y = tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x));
  return 0.5f * (1.0f + y) + 0.5f * x * (1.0f - y * y) * 0.79788456080286536f * (1.0f + 0.134145f * x * x);
}
)"},
      {"copy_part", {}, R"(/* Puts x (rows, width) at column `at` of y (rows, whole). */
static void copy_part(const float *x, float *y, int rows, int width, int at, int whole) {
  for (int r = 0; r < rows; ++r) memcpy(y + r * whole + at, x + r * width, sizeof(float) * (size_t)width);
}
)"},
      {"take_part", {}, R"(/* Takes y (rows, width) from column `at` of x (rows, whole). */
static void take_part(const float *x, float *y, int rows, int width, int at, int whole) {
  for (int r = 0; r < rows; ++r) memcpy(y + r * width, x + r * whole + at, sizeof(float) * (size_t)width);
}
)"},
      {"gather", {}, R"(/* Rows of a table; an index outside of it gives NaN. */
static void gather(const @W@ *table@S@, const int32_t *ids, float *y, int count, int rows, int width) {
  for (int i = 0; i < count; ++i, y += width) {
    const int32_t id = ids[i];
    for (int c = 0; c < width; ++c) y[c] = id < 0 || id >= rows ? NAN : @T@;
  }
}
)"},
      {"sigmoid", {}, R"(static float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
)"},
      {"gates", {"begin", "accumulate", "finish"}, R"(/* The sums of a step's gates: x w + bias. */
static void gates(const float *x, const @W@ *w@S@, const float *bias, float *y, int count, int width) {
  begin(y@b@, width);
  accumulate(x, w, y, count, width);
  @FG@
}
)"},
      {"plain_cell", {"gates"}, R"(/* h' = f(w_ih x + w_hh h + biases); scratch: (3 units). */
static void plain_cell(const float *x, const @W@ *w_ih@SI@, const @W@ *w_hh@SH@, const float *b_ih,
                       const float *b_hh, float *y, float *last, float *scratch, int steps, int features, int units,
                       int reverse, int relu) {
  float *h = scratch, *a = h + units, *c = a + units;
  for (int u = 0; u < units; ++u) h[u] = 0.0f;
  for (int s = 0; s < steps; ++s) {
    const int t = reverse ? steps - 1 - s : s;
    gates(x + t * features, w_ih@sI@, b_ih, a, features, units);
    gates(h, w_hh@sH@, b_hh, c, units, units);
    for (int u = 0; u < units; ++u) {
      const float sum = a[u] + c[u];
      h[u] = relu ? (sum > 0.0f ? sum : 0.0f) : tanhf(sum);
      if (y) y[t * units + u] = h[u];
    }
  }
  if (last) memcpy(last, h, sizeof(float) * (size_t)units);
}
)"},
      {"gru", {"gates", "sigmoid"}, R"(/* Gates r, z, n in PyTorch's order; scratch: (7 units). */
static void gru(const float *x, const @W@ *w_ih@SI@, const @W@ *w_hh@SH@, const float *b_ih, const float *b_hh,
                float *y, float *last, float *scratch, int steps, int features, int units, int reverse) {
  float *h = scratch, *a = h + units, *c = a + 3 * units;
  for (int u = 0; u < units; ++u) h[u] = 0.0f;
  for (int s = 0; s < steps; ++s) {
    const int t = reverse ? steps - 1 - s : s;
    gates(x + t * features, w_ih@sI@, b_ih, a, features, 3 * units);
    gates(h, w_hh@sH@, b_hh, c, units, 3 * units);
    for (int u = 0; u < units; ++u) {
      const float r = sigmoid(a[u] + c[u]);
      const float z = sigmoid(a[units + u] + c[units + u]);
      const float n = tanhf(a[2 * units + u] + r * c[2 * units + u]);
      h[u] = (1.0f - z) * n + z * h[u];
      if (y) y[t * units + u] = h[u];
    }
  }
  if (last) memcpy(last, h, sizeof(float) * (size_t)units);
}
)"},
      {"lstm",
       {"gates", "sigmoid"},
       R"(/* Gates i, f, g, o in PyTorch's order; scratch: (10 units). */
static void lstm(const float *x, const @W@ *w_ih@SI@, const @W@ *w_hh@SH@, const float *b_ih, const float *b_hh,
                 float *y, float *last, float *scratch, int steps, int features, int units, int reverse) {
  float *h = scratch, *m = h + units, *a = m + units, *c = a + 4 * units;
  for (int u = 0; u < 2 * units; ++u) h[u] = 0.0f;
  for (int s = 0; s < steps; ++s) {
    const int t = reverse ? steps - 1 - s : s;
    gates(x + t * features, w_ih@sI@, b_ih, a, features, 4 * units);
    gates(h, w_hh@sH@, b_hh, c, units, 4 * units);
    for (int u = 0; u < units; ++u) {
      const float i = sigmoid(a[u] + c[u]);
      const float f = sigmoid(a[units + u] + c[units + u]);
      const float g = tanhf(a[2 * units + u] + c[2 * units + u]);
      const float o = sigmoid(a[3 * units + u] + c[3 * units + u]);
      m[u] = f * m[u] + i * g;
      h[u] = o * tanhf(m[u]);
      if (y) y[t * units + u] = h[u];
    }
  }
  if (last) memcpy(last, h, sizeof(float) * (size_t)units);
}
)"},
  };
  return kAll;
}

/// Returns the first function for which `f` is true, callees first; null: none.
template <class F>
const CFunction* find_function(F f) {
  for (const auto* all : {&first_functions(), &further_c_functions(), &level_c_functions()}) {
    const auto found = std::ranges::find_if(*all, f);
    if (found != all->end()) return &*found;
  }
  return nullptr;
}

struct Replacement {
  std::string_view mark;
  std::string_view f32;
  std::string_view int8;
};

// With int8 weights the bias is added after the sum is scaled to the weights' units.
constexpr Replacement kReplacements[] = {
    {"@W@", "float", "int8_t"},
    {"@SI@", "", ", const float *scale_ih"},
    {"@SH@", "", ", const float *scale_hh"},
    {"@sI@", "", ", scale_ih"},
    {"@sH@", "", ", scale_hh"},
    {"@S@", "", ", const float *scale"},
    {"@BP@", ", const float *restrict bias", ""},
    {"@b@", ", bias", ""},
    {"@B@", "bias ? bias[o] : 0.0f", "0.0f"},
    {"    @F@\n", "", "    finish(y, scale, bias, units);\n"},
    {"      @FC@\n", "", "      finish(y, scale, bias, filters);\n"},
    {"  @FG@\n", "", "  finish(y, scale, bias, width);\n"},
    {"  @FT@\n", "",
     "  for (int i = 0; i < oh * ow; ++i) finish(y + i * filters, scale, NULL, filters);\n"},
    {"@T@", "table[id * width + c]", "(float)table[id * width + c] * scale[id]"},
};

std::string in_form(std::string_view text, CWeights weights) {
  std::string out(text);
  for (const Replacement& r : kReplacements) {
    const std::string_view by = weights == CWeights::f32 ? r.f32 : r.int8;
    for (std::size_t at = 0; (at = out.find(r.mark, at)) != std::string::npos; at += by.size()) {
      out.replace(at, r.mark.size(), by);
    }
  }
  return out;
}

}  // namespace

std::string over_windows(std::string_view head, std::string_view begin, std::string_view pixel,
                         std::string_view end) {
  std::string text(head);
  text += R"(  for (int i = 0; i < oh; ++i) {
    for (int j = 0; j < ow; ++j, y += channels) {
)";
  text += begin;
  text += R"(      for (int k = 0; k < size_h; ++k) {
        const int row = i * stride_h - pad_top + k;
        if (row < 0 || row >= h) continue;
        for (int l = 0; l < size_w; ++l) {
          const int column = j * stride_w - pad_left + l;
          if (column < 0 || column >= w) continue;
)";
  text += pixel;
  text += R"(        }
      }
)";
  text += end;
  text += R"(    }
  }
}
)";
  return text;
}

const CFunction& c_function(std::string_view name) {
  const CFunction* found = find_function([&](const CFunction& f) { return f.name == name; });
  LINNET_ASSERT(found != nullptr);
  return *found;
}

std::string c_functions(const std::vector<std::string>& names, CWeights weights) {
  std::set<std::string_view> wanted(names.begin(), names.end());
  for (bool grown = true; grown;) {
    grown = false;
    for (const std::string_view name : std::set(wanted)) {
      for (const std::string_view need : c_function(name).needs) {
        if (need == "finish" && weights == CWeights::f32) continue;
        grown = wanted.insert(need).second || grown;
      }
    }
  }
  std::string text;
  find_function([&](const CFunction& function) {
    if (wanted.contains(function.name)) text += in_form(function.text, weights) + "\n";
    return false;
  });
  return text;
}

}  // namespace linnet
