// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "c_export/writers.h"
#include "fusions/int8/conv2d_int8.h"

namespace linnet {
namespace {

using In = Conv2dInt8Op::In;

constexpr std::int64_t kPanel = 16;  // columns that are computed at once

/// A product as the file's function `product` takes it.
struct Product {
  std::vector<int> weights;  ///< (panels, segments, pairs, kPanel, 2)
  std::vector<float> factor;
  std::vector<float> bias;
};

/// Multiplies factors of channels' sums by the norm's, and lets their biases be what it adds, in
/// the floats that the CPU computes.
void add_norm(const Written& w, const Conv2dInt8Op& op, Product& p) {
  const auto of = [&](Conv2dInt8Op::Norm operand) { return w.weight(op.norm_input(operand)); };
  const std::vector<float> gamma = of(Conv2dInt8Op::gamma);
  const std::vector<float> beta = of(Conv2dInt8Op::beta);
  const std::vector<float> mean = of(Conv2dInt8Op::running_mean);
  const std::vector<float> variance = of(Conv2dInt8Op::running_var);
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    const float factor = gamma[c] / std::sqrt(variance[c] + static_cast<float>(op.attrs().epsilon));
    p.factor[c] *= factor;
    p.bias[c] = beta[c] + (p.bias[c] - mean[c]) * factor;
  }
}

Product product_of(const Written& w, const Conv2dInt8Op& op, const ConvShape& s) {
  const std::vector<float> all = w.weight(In::w);
  const std::int64_t segment = s.kw * s.c;
  const std::int64_t pairs = (segment + 1) / 2;
  const std::int64_t panels = (s.co + kPanel - 1) / kPanel;
  Product p;
  p.weights.resize(static_cast<std::size_t>(panels * s.kh * pairs * kPanel * 2));
  p.factor.resize(static_cast<std::size_t>(panels * kPanel));
  p.bias.resize(p.factor.size());
  for (std::int64_t o = 0; o < s.co; ++o) {
    const float* row = all.data() + o * s.taps();
    const float step = weight_step({row, static_cast<std::size_t>(s.taps())});
    for (std::int64_t i = 0; i < s.taps(); ++i) {
      const std::int64_t at = i / segment * pairs + i % segment / 2;  // of pairs
      const std::int64_t to =
          ((o / kPanel * s.kh * pairs + at) * kPanel + o % kPanel) * 2 + i % segment % 2;
      p.weights[static_cast<std::size_t>(to)] = steps_of(row[i], step);
    }
    p.factor[static_cast<std::size_t>(o)] = static_cast<float>(op.attrs().x.scale) * step;
  }
  if (op.attrs().conv.bias) std::ranges::copy(w.weight(In::b), p.bias.begin());
  if (op.attrs().norm) add_norm(w, op, p);
  return p;
}

/// Writes the product of sample n.
void write_sample(const Written& w, const Product& p, const std::string& weights,
                  const ConvShape& s, std::int64_t n) {
  const auto& op = static_cast<const Conv2dInt8Op&>(*w.node.op);
  const Conv2dInt8Attrs& a = op.attrs();
  const std::int64_t results = s.out_pixels() * s.co;
  const std::string none = w.file.nothing();
  const auto residual = [&](bool levels) {
    const bool is = a.residual && a.residual_u8 == levels;
    return is ? at_sample(w.in(op.residual_input()), n, results) : none;
  };
  const std::string y = at_sample(w.out(), n, results);
  const std::string tail =
      fmt::format("&(const struct tail){{{}, {}, {}, {}, {}, {}, {}, {}, {}}}",
                  w.file.floats(p.factor), w.file.floats(p.bias), residual(true),
                  c_number(a.residual_levels.scale), residual(false),
                  a.conv.activation == Activation::relu ? 1 : 0, a.to_levels ? none : y,
                  a.to_levels ? y : none, level_arguments(a.y));

  std::string x = at_sample(w.in(In::x), n, s.in_pixels() * s.c);
  std::int64_t line = s.w * s.c;  // elements of a line of the image
  const std::int64_t rows = (s.oh - 1) * a.conv.stride_h + s.kh;
  const std::int64_t columns = (s.ow - 1) * a.conv.stride_w + s.kw;
  if (a.conv.pad_top + a.conv.pad_left > 0 || rows > s.h || columns > s.w) {
    const std::string copy = w.file.spare_levels(rows * columns * s.c);
    w.file.call("frame", fmt::format("{}, {}, {}", x, copy,
                                     fmt::join({s.h, line, rows, columns * s.c, a.conv.pad_top,
                                                a.conv.pad_left * s.c},
                                               ", ")));
    x = copy;
    line = columns * s.c;
  }
  const bool is_flat = s.kh == 1 && s.kw == 1 && a.conv.stride_h == 1 && a.conv.stride_w == 1;
  const std::int64_t lines = is_flat ? 1 : s.oh;  // a line of all pixels needs no other order
  w.file.call("product",
              fmt::format("{}, {}, {}, {}", x, weights, tail,
                          fmt::join({lines, s.oh * s.ow / lines, s.co, s.kh, (s.kw * s.c + 1) / 2,
                                     line, a.conv.stride_w * s.c, a.conv.stride_h * line},
                                    ", ")));
}

void write(const Written& w) {
  const auto& op = static_cast<const Conv2dInt8Op&>(*w.node.op);
  ConvShape s = op.shape(w.shape_in(In::x), w.shape_in(In::w));
  const Product p = product_of(w, op, s);
  const std::string weights = w.file.integers(p.weights);
  if (s.h == 1 && s.w == 1 && s.oh == 1 && s.ow == 1 && s.kh == 1 && s.kw == 1) {
    std::swap(s.n, s.w);  // samples of one pixel are pixels of one line
    s.ow = s.w;
  }
  for (std::int64_t n = 0; n < s.n; ++n) write_sample(w, p, weights, s, n);
  if (!op.rounds_activation()) activate_result(w, op.attrs().conv.activation);
}

}  // namespace

void register_conv2d_int8_c(Writers& all) { all[Conv2dInt8Op::kName] = write; }

}  // namespace linnet
