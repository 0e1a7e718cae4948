// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>
#include <linnet/layers/conv1d.h>
#include <linnet/layers/conv2d.h>
#include <linnet/layers/conv_transpose2d.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "onnx/node_import.h"
#include "ops/bin_mean2d/bin_mean2d.h"
#include "ops/global_pool/global_pool.h"

namespace linnet::onnx {
namespace {

using Pair = std::array<std::int64_t, 2>;

/// Images, or sequences as images of one row: (rows, H, W, C).
struct Images {
  Trace t;
  bool sequence = false;
  std::vector<int> order;
  Expression e;
  Pair size{};
  std::int64_t channels = 0;

  /// Returns the result, whose rows and columns may have other numbers.
  Trace back(const Expression& y) const {
    const Shape s = y.shape();
    return from_rows(t, sequence ? reshape(y, {s[1], s[2]}) : y, order, 0);
  }
};

Images images_of(NodeImport& n) {
  const Type type = n.input(0).type();
  const bool levels = n.op() == "MaxPool" && (type == Type::u8 || type == Type::i8);
  const Trace x = levels ? n.trace(0) : n.floats(0);
  const std::size_t rank = x.axes.size();
  require<DataError>(x.e.dtype() == DType::f32 && (rank == 3 || rank == 4),
                     "expected images (N, C, H, W) or sequences (N, C, L) of numbers; got {} {}",
                     name_of(type), text_of(dims_of(x)));
  const bool sequence = rank == 3;
  std::vector<int> order = sequence ? std::vector{2, 1} : std::vector{2, 3, 1};
  Expression e = arranged(x, order, 0);
  const Shape s = e.shape();
  if (sequence) e = reshape(e, {1, s[0], s[1]});
  return {x, sequence, std::move(order), e, {sequence ? 1 : s[0], s[-2]}, s[-1]};
}

/// A window's settings along rows and columns, as the attributes of a convolution or a pooling.
struct Window {
  Pair kernel{1, 1};
  Pair stride{1, 1};
  Pair dilation{1, 1};
  Pair before{};
  Pair after{};
  std::int64_t span(std::size_t i) const { return (kernel[i] - 1) * dilation[i] + 1; }
  Padding2d padding() const {
    return {Padding2d::Mode::fixed, before[0], after[0], before[1], after[1]};
  }
  Size2d size() const { return {kernel[0], kernel[1]}; }
};

Pair pair_of(NodeImport& n, std::string_view name, std::int64_t least, bool sequence,
             Pair otherwise) {
  if (!n.has_attribute(name)) return otherwise;
  const std::vector<std::int64_t> given = n.integers(name);
  require<DataError>(given.size() == (sequence ? 1U : 2U) &&
                         std::ranges::all_of(given,
                                             [&](std::int64_t x) {
                                               return x >= least && x < (std::int64_t{1} << 31);
                                             }),
                     "{} {} does not fit {}", name, text_of(given),
                     sequence ? "sequences" : "images");
  return sequence ? Pair{otherwise[0], given[0]} : Pair{given[0], given[1]};
}

Window window_of(NodeImport& n, const Images& x, Pair kernel) {
  Window w;
  w.kernel = pair_of(n, "kernel_shape", 1, x.sequence, kernel);
  w.stride = pair_of(n, "strides", 1, x.sequence, {1, 1});
  w.dilation = pair_of(n, "dilations", 1, x.sequence, {1, 1});
  const std::string automatic = n.text("auto_pad", "NOTSET");
  const std::vector<std::int64_t> pads = n.integers("pads");
  const std::size_t axes = x.sequence ? 1 : 2;
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t out = (x.size[i] + w.stride[i] - 1) / w.stride[i];
      const std::int64_t all =
          std::max<std::int64_t>((out - 1) * w.stride[i] + w.span(i) - x.size[i], 0);
      w.before[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      w.after[i] = all - w.before[i];
    }
    return w;
  }
  require<DataError>(automatic == "NOTSET" || automatic == "VALID",
                     "auto_pad '{}' is not supported", automatic);
  if (pads.empty() || automatic == "VALID") return w;
  require<DataError>(pads.size() == 2 * axes && std::ranges::all_of(pads,
                                                                    [](std::int64_t p) {
                                                                      return p >= 0 &&
                                                                             p < (1 << 24);
                                                                    }),
                     "expected a pad for the begin and end of each axis; got {}", text_of(pads));
  for (std::size_t i = 0; i < axes; ++i) {
    w.before[2 - axes + i] = pads[i];
    w.after[2 - axes + i] = pads[axes + i];
  }
  return w;
}

/// Dims of a convolution's weight, as those of images.
Dims weight_dims(const Constant& w, bool sequence) {
  const std::size_t rank = sequence ? 3 : 4;
  require<DataError>(w.dims().size() == rank, "expected a weight of {} axes; got {}", rank,
                     text_of(w.dims()));
  Dims dims = w.dims();
  if (sequence) dims.insert(dims.begin() + 2, 1);
  return dims;
}

void set_bias(NodeImport& n, const std::string& layer, std::int64_t filters) {
  if (!n.has(2)) return;
  require<DataError>(n.constant(2)->dims() == Dims{filters}, "expected a bias of {}; got {}",
                     filters, text_of(n.constant(2)->dims()));
  n.network().set_weight(layer, "bias", n.constant(2), as_is({filters}));
}

void convolve(NodeImport& n) {
  const Images x = images_of(n);
  const ConstantPtr& w = n.constant(1);
  const Dims dims = weight_dims(*w, x.sequence);
  const std::int64_t groups = n.integer("group", 1);
  const Window window = window_of(n, x, {dims[2], dims[3]});
  require<DataError>(groups > 0 && dims[1] <= x.channels && dims[1] * groups == x.channels &&
                         window.kernel == Pair{dims[2], dims[3]} && dims[0] % groups == 0,
                     "a weight of {} in {} groups does not fit {} channels", text_of(w->dims()),
                     groups, x.channels);
  const Layout layout = in_order(dims, {0, 2, 3, 1});
  if (n.network().is_weight(*w) || (n.has(2) && n.network().is_weight(*n.constant(2)))) {
    Conv2dOptions options;
    options.stride = {window.stride[0], window.stride[1]};
    options.padding = window.padding();
    options.dilation = {window.dilation[0], window.dilation[1]};
    options.groups = groups;
    Expression y = conv2d(x.e, n.weight(w, layout), options);
    if (n.has(2)) y = y + n.weight(n.constant(2), as_is({dims[0]}));
    n.give(x.back(y));
    return;
  }
  Conv2d conv;
  conv.filters = dims[0];
  conv.kernel = window.size();
  conv.stride = {window.stride[0], window.stride[1]};
  conv.padding = window.padding();
  conv.dilation = {window.dilation[0], window.dilation[1]};
  conv.groups = groups;
  conv.bias = n.has(2);
  conv.name = n.layer_name(*w);
  const Expression y = x.e | conv;
  n.network().set_weight(conv.name, "weight", w, layout);
  set_bias(n, conv.name, dims[0]);
  n.give(x.back(n.scoped(y)));
}

void convolve_back(NodeImport& n) {
  const Images x = images_of(n);
  const ConstantPtr& w = n.constant(1);
  const Dims dims = weight_dims(*w, x.sequence);
  const std::int64_t groups = n.integer("group", 1);
  const bool pads_output = n.has_attribute("output_shape");
  require<DataError>(!pads_output && n.text("auto_pad", "NOTSET") == "NOTSET",
                     "output_shape and auto_pad are not supported: expected pads");
  Window window = window_of(n, x, {dims[2], dims[3]});
  Pair more = pair_of(n, "output_padding", 0, x.sequence, {0, 0});
  // PyTorch's output padding may be a stride or more, with dilation: less is cut.
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t uncut = more[i] < window.stride[i] ? 0 : std::min(more[i], window.after[i]);
    window.after[i] -= uncut;
    more[i] -= uncut;
  }
  require<DataError>(groups > 0 && dims[0] == x.channels && dims[0] % groups == 0 &&
                         window.kernel == Pair{dims[2], dims[3]},
                     "a weight of {} in {} groups does not fit {} channels", text_of(w->dims()),
                     groups, x.channels);
  ConvTranspose2d conv;
  conv.filters = dims[1] * groups;
  conv.kernel = window.size();
  conv.stride = {window.stride[0], window.stride[1]};
  conv.padding = window.padding();
  conv.output_padding = {more[0], more[1]};
  conv.dilation = {window.dilation[0], window.dilation[1]};
  conv.groups = groups;
  conv.bias = n.has(2);
  conv.name = n.layer_name(*w);
  const Expression y = x.e | conv;
  n.network().set_weight(conv.name, "weight", w, in_order(dims, {0, 2, 3, 1}));
  set_bias(n, conv.name, conv.filters);
  n.give(x.back(n.scoped(y)));
}

/// Returns how many windows there are, with those that begin in the image and end after its
/// padding.
Pair windows(const Images& x, const Window& w, bool ceil) {
  Pair out{};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t room = x.size[i] + w.before[i] + w.after[i] - w.span(i);
    const std::int64_t beyond = ceil ? w.stride[i] - 1 : 0;
    require<DataError>(room + beyond >= 0, "expected a window that fits {1}; got {0}", w.span(i),
                       x.size[i]);
    out[i] = (room + beyond) / w.stride[i] + 1;
    if (ceil && (out[i] - 1) * w.stride[i] >= x.size[i] + w.before[i]) --out[i];
  }
  return out;
}

void pool(NodeImport& n, bool largest) {
  const Images x = images_of(n);
  require<DataError>(n.has_attribute("kernel_shape"), "the attribute 'kernel_shape' is missing");
  Window w = window_of(n, x, {1, 1});
  const bool ceil = n.flag("ceil_mode", false);
  require<DataError>(w.dilation == Pair{1, 1}, "dilations are not supported");
  const Pair out = windows(x, w, ceil);
  Pair after = w.after;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t end = (out[i] - 1) * w.stride[i] + w.kernel[i] - w.before[i] - x.size[i];
    after[i] = std::max<std::int64_t>(end, 0);
  }
  if (largest) {
    require<DataError>(n.integer("storage_order", 0) == 0, "storage_order is not supported");
    Window fitting = w;
    fitting.after = after;
    n.give(x.back(max_pool2d(x.e, w.size(), {w.stride[0], w.stride[1]}, fitting.padding())));
    return;
  }
  const bool counts = n.flag("count_include_pad", false);
  const bool pads = w.before != Pair{} || w.after != Pair{};
  if (counts && pads) {
    if (out == windows(x, w, false)) {
      n.give(x.back(avg_pool2d(x.e, w.size(), {w.stride[0], w.stride[1]}, w.padding())));
      return;
    }
    // Windows that end after the padding: what is beyond it does not count.
    Window fitting = w;
    for (std::size_t i = 0; i < 2; ++i) fitting.after[i] = std::max(w.after[i], after[i]);
    std::array<std::vector<double>, 2> counted;
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::int64_t k = 0; k < out[i]; ++k) {
        const std::int64_t end = x.size[i] + w.before[i] + w.after[i] - k * w.stride[i];
        counted[i].push_back(static_cast<double>(std::min(w.kernel[i], end)));
      }
    }
    std::vector<double> shares;
    for (const double rows : counted[0]) {
      for (const double columns : counted[1]) {
        shares.push_back(static_cast<double>(w.kernel[0] * w.kernel[1]) / (rows * columns));
      }
    }
    const Expression means =
        avg_pool2d(x.e, w.size(), {w.stride[0], w.stride[1]}, fitting.padding());
    require<DataError>(means.shape()[0] == out[0] && means.shape()[1] == out[1],
                       "ceil_mode with these pads is not supported");
    n.give(x.back(means * made_weight(n, "shares", {out[0], out[1], 1}, std::move(shares))));
    return;
  }
  BinMean2dAttrs bins;
  bins.out_h = out[0];
  bins.out_w = out[1];
  bins.size_h = w.kernel[0];
  bins.size_w = w.kernel[1];
  bins.stride_h = w.stride[0];
  bins.stride_w = w.stride[1];
  bins.pad_top = w.before[0];
  bins.pad_left = w.before[1];
  const bool inside = !pads && after == Pair{};
  n.give(x.back(inside ? avg_pool2d(x.e, w.size(), {w.stride[0], w.stride[1]})
                       : emit(BinMean2dOp(bins), {x.e})));
}

void pool_all(NodeImport& n, bool largest) {
  const Images x = images_of(n);
  const Expression y = largest ? emit(GlobalMaxPoolOp(), {x.e}) : emit(GlobalAvgPoolOp(), {x.e});
  n.give(from_rows(x.t, y, {1}, 0));
}

/// x / (bias + alpha mean of squares over neighbouring channels)^beta
void normalize_channels(NodeImport& n) {
  const Images x = images_of(n);
  const std::int64_t size = n.integer("size", 0);
  require<DataError>(size > 0 && size < (1 << 24), "expected a size above 0; got {}", size);
  const std::int64_t pixels = x.size[0] * x.size[1];
  Padding2d padding;
  padding.mode = Padding2d::Mode::fixed;
  padding.left = (size - 1) / 2;
  padding.right = size / 2;
  const Expression squares = reshape(square(x.e), {pixels, x.channels, 1});
  const Expression means = avg_pool2d(squares, {1, size}, 1, padding);
  const double alpha = n.number("alpha", 1e-4);
  const Expression scale = pow(means * alpha + n.number("bias", 1), -n.number("beta", 0.75));
  n.give(x.back(x.e * reshape(scale, x.e.shape())));
}

/// How Resize finds pixels between those of an image.
struct Sampling {
  std::string mode = "nearest";
  std::string centres = "asymmetric";
  std::string nearest = "floor";
  double cubic = -0.75;
  bool inside = false;     ///< whether pixels outside the image count for nothing
  bool antialias = false;  ///< whether filters are as wide as a pixel of the result
};

/// Returns where pixel i of the result lies in an image of `size` pixels.
double place_in(const Sampling& s, std::int64_t i, std::int64_t size, std::int64_t out,
                double scale) {
  const double at = static_cast<double>(i);
  const double wide = scale * static_cast<double>(size);
  if (s.centres == "asymmetric") return at / scale;
  if (s.centres == "align_corners") {
    return out == 1 || wide == 1 ? 0 : at * static_cast<double>(size - 1) / (wide - 1);
  }
  if (s.centres == "pytorch_half_pixel" && out == 1) return -0.5;
  double place = (at + 0.5) / scale - 0.5;
  if (s.centres == "half_pixel_symmetric") {
    place += static_cast<double>(size) / 2 * (1 - static_cast<double>(out) / wide);
  }
  return place;
}

/// Returns the weight of a pixel at a distance, in pixels of the filter.
double filter_at(const Sampling& s, double distance) {
  const double d = std::abs(distance);
  if (s.mode == "linear") return std::max(1 - d, 0.0);
  const double a = s.cubic;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Returns what each pixel of the result takes of those of the image: (out, size).
std::vector<double> sampled(const Sampling& s, std::int64_t size, std::int64_t out, double scale) {
  std::vector<double> w(static_cast<std::size_t>(size * out), 0);
  const double narrow = s.antialias ? std::min(scale, 1.0) : 1;
  const auto reach = static_cast<std::int64_t>(std::ceil((s.mode == "linear" ? 1 : 2) / narrow));
  for (std::int64_t i = 0; i < out; ++i) {
    double* row = w.data() + i * size;
    const double x = place_in(s, i, size, out, scale);
    const auto pixel = [&](double at) {
      return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(size - 1)));
    };
    if (s.mode == "nearest") {
      const double at = s.nearest == "floor"               ? std::floor(x)
                        : s.nearest == "ceil"              ? std::ceil(x)
                        : s.nearest == "round_prefer_ceil" ? std::floor(x + 0.5)
                                                           : std::ceil(x - 0.5);
      row[pixel(at)] = 1;
      continue;
    }
    const auto first = static_cast<std::int64_t>(std::floor(x)) - reach;
    double all = 0;
    for (std::int64_t k = first; k <= first + 2 * reach + 1; ++k) {
      if (s.inside && (k < 0 || k >= size)) continue;
      all += filter_at(s, (static_cast<double>(k) - x) * narrow);
    }
    for (std::int64_t k = first; k <= first + 2 * reach + 1; ++k) {
      if (s.inside && (k < 0 || k >= size)) continue;
      row[pixel(static_cast<double>(k))] +=
          filter_at(s, (static_cast<double>(k) - x) * narrow) / all;
    }
  }
  return w;
}

/// Images (H, W, C) resampled by products with matrices along both axes.
Expression resampled(NodeImport& n, const Sampling& s, const Expression& x, const Pair& out,
                     const std::array<double, 2>& scales) {
  const auto matrix = [&](const char* role, std::int64_t size, std::int64_t to, double scale) {
    require<DataError>(to <= (std::int64_t{1} << 22) / size,
                       "mode '{}' from {} to {} pixels needs more than 2^22 weights", s.mode, size,
                       to);
    return made_weight(n, role, {to, size}, sampled(s, size, to, scale));
  };
  Expression y = x;
  const std::int64_t width = x.shape()[1];
  const std::int64_t channels = x.shape()[2];
  if (out[0] != x.shape()[0]) {
    const Expression rows = reshape(y, {x.shape()[0], width * channels});
    y = matmul(matrix("rows", x.shape()[0], out[0], scales[0]), rows);
    y = reshape(y, {out[0], width, channels});
  }
  if (out[1] != width) y = matmul(matrix("columns", width, out[1], scales[1]), y);
  return y;
}

/// Reads the scales of height and width, and the size of the result.
Pair read_scales(NodeImport& n, const Images& x, std::array<double, 2>& scales) {
  const std::size_t axes = x.sequence ? 1 : 2;
  const std::size_t rank = axes + 2;
  std::vector<std::int64_t> places = n.integers("axes");
  if (places.empty()) {
    for (std::size_t i = 0; i < rank; ++i) places.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::size_t> of;  // the axis of each number that is given
  for (const std::int64_t place : places) {
    of.push_back(static_cast<std::size_t>(n.axis(place, rank)));
  }
  Pair out = x.size;
  const bool by_size = n.op() == "Resize" && n.has(3);
  if (!by_size) {
    n.ignore("keep_aspect_ratio_policy");  // it is about sizes
    const std::size_t input = n.op() == "Resize" && n.opset() >= 11 ? 2 : 1;
    const std::vector<double> given =
        n.op() == "Upsample" && n.opset() < 9 ? n.numbers("scales") : n.constant(input)->values();
    require<DataError>(given.size() == of.size(), "expected {} scales; got {}", of.size(),
                       given.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (of[i] < 2) {
        require<DataError>(given[i] == 1, "expected scales of height and width alone");
        continue;
      }
      const std::size_t to = of[i] - axes;
      const double exact = static_cast<double>(x.size[to]) * given[i];
      require<DataError>(exact >= 1 && exact < (1 << 24),
                         "expected a scale that gives at least a pixel; got {} for {}", given[i],
                         x.size[to]);
      const bool whole = std::abs(exact - std::round(exact)) < 1e-3;
      out[to] = static_cast<std::int64_t>(whole ? std::round(exact) : std::floor(exact));
      scales[to] =
          whole ? static_cast<double>(out[to]) / static_cast<double>(x.size[to]) : given[i];
    }
    return out;
  }
  const std::vector<std::int64_t> sizes = n.constant(3)->integers();
  require<DataError>(sizes.size() == of.size(), "expected {} sizes; got {}", of.size(),
                     text_of(sizes));
  const std::string policy = n.text("keep_aspect_ratio_policy", "stretch");
  require<DataError>(policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
                     "keep_aspect_ratio_policy '{}' is not supported", policy);
  double shared = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i] < 2) {
      require<DataError>(of[i] == 0 || sizes[i] == x.channels, "sizes {} do not fit",
                         text_of(sizes));
      continue;
    }
    require<DataError>(sizes[i] > 0 && sizes[i] < (1 << 24), "sizes {} do not fit", text_of(sizes));
    const std::size_t to = of[i] - axes;
    out[to] = sizes[i];
    scales[to] = static_cast<double>(sizes[i]) / static_cast<double>(x.size[to]);
    shared = shared == 0              ? scales[to]
             : policy == "not_larger" ? std::min(shared, scales[to])
                                      : std::max(shared, scales[to]);
  }
  for (std::size_t i = 0; policy != "stretch" && i < of.size(); ++i) {
    if (of[i] < 2) continue;
    const std::size_t to = of[i] - axes;
    scales[to] = shared;
    out[to] = static_cast<std::int64_t>(std::floor(static_cast<double>(x.size[to]) * shared + 0.5));
    require<DataError>(out[to] > 0 && out[to] < (1 << 24), "sizes {} do not fit", text_of(sizes));
  }
  return out;
}

void resize(NodeImport& n) {
  const Images x = images_of(n);
  Sampling s;
  s.mode = n.text("mode", "nearest");
  if (n.op() == "Resize" && n.opset() >= 11) {
    s.centres = n.text("coordinate_transformation_mode", "half_pixel");
    s.nearest = n.text("nearest_mode", "round_prefer_floor");
    s.cubic = n.number("cubic_coeff_a", -0.75);
    s.inside = n.flag("exclude_outside", false);
    s.antialias = n.flag("antialias", false);
    n.ignore("extrapolation_value");
  }
  std::array<double, 2> scales{1, 1};
  const Pair out = read_scales(n, x, scales);
  bool whole = true;  // multiples of the image, without a rest
  bool exact = true;
  for (std::size_t i = 0; i < 2; ++i) {
    whole = whole && out[i] % x.size[i] == 0;
    exact = exact && scales[i] * static_cast<double>(x.size[i]) == static_cast<double>(out[i]);
  }
  const bool half = s.centres == "half_pixel" || s.centres == "pytorch_half_pixel";
  require<DataError>(half || s.centres == "asymmetric" || s.centres == "align_corners" ||
                         s.centres == "half_pixel_symmetric",
                     "coordinate_transformation_mode '{}' is not supported", s.centres);
  require<DataError>(s.mode == "nearest" || s.mode == "linear" || s.mode == "cubic",
                     "mode '{}' is not supported", s.mode);
  require<DataError>(s.nearest == "floor" || s.nearest == "ceil" ||
                         s.nearest == "round_prefer_floor" || s.nearest == "round_prefer_ceil",
                     "nearest_mode '{}' is not supported", s.nearest);
  bool direct = exact && s.mode != "cubic";
  if (s.mode == "nearest") {
    direct = direct && ((s.centres == "asymmetric" && s.nearest == "floor") ||
                        (whole && half && s.nearest.starts_with("round")));
  } else {
    const bool has_more = (out[0] > 1 || x.size[0] == 1) && (out[1] > 1 || x.size[1] == 1);
    direct = direct && half && (s.centres == "half_pixel" || has_more) && !s.inside && !s.antialias;
  }
  n.give(x.back(direct ? resize2d(x.e, {out[0], out[1]}, s.mode == "linear")
                       : resampled(n, s, x.e, out, scales)));
}

}  // namespace

void add_images(Operators& all) {
  all["Conv"] = {convolve, "sequences and images; a constant weight"};
  all["ConvTranspose"] = {convolve_back,
                          "sequences and images; a constant weight; pads, no output_shape"};
  all["MaxPool"] = {[](NodeImport& n) { pool(n, true); },
                    "sequences and images; no dilations, no indices"};
  all["AveragePool"] = {[](NodeImport& n) { pool(n, false); },
                        "sequences and images; no dilations"};
  all["GlobalMaxPool"] = {[](NodeImport& n) { pool_all(n, true); }, "sequences and images"};
  all["GlobalAveragePool"] = {[](NodeImport& n) { pool_all(n, false); }, "sequences and images"};
  all["LRN"] = {normalize_channels, "sequences and images"};
  all["Resize"] = {resize, "sequences and images; no tf_crop_and_resize"};
  all["Upsample"] = {resize, "sequences and images"};
}

}  // namespace linnet::onnx
