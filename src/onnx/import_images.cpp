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
  const Trace x = n.floats(0);
  const std::size_t rank = x.axes.size();
  require<DataError>(rank == 3 || rank == 4,
                     "expected images (N, C, H, W) or sequences (N, C, L); got {}",
                     text_of(dims_of(x)));
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
  const bool ceil = n.integer("ceil_mode", 0) != 0;
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
  const bool counts = n.integer("count_include_pad", 0) != 0;
  const bool pads = w.before != Pair{} || w.after != Pair{};
  if (counts && pads) {
    require<DataError>(out == windows(x, w, false),
                       "ceil_mode with count_include_pad is not supported");
    n.give(x.back(avg_pool2d(x.e, w.size(), {w.stride[0], w.stride[1]}, w.padding())));
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

void resize(NodeImport& n) {
  const Images x = images_of(n);
  const std::size_t axes = x.sequence ? 1 : 2;
  const bool old = n.op() == "Upsample";
  const std::string mode = n.text("mode", "nearest");
  std::string centres = "asymmetric";
  std::string nearest = "floor";
  std::size_t scales_at = 1;
  if (!old && n.opset() >= 11) {
    centres = n.text("coordinate_transformation_mode", "half_pixel");
    nearest = n.text("nearest_mode", "round_prefer_floor");
    n.ignore("cubic_coeff_a");
    n.ignore("exclude_outside");
    n.ignore("extrapolation_value");
    require<DataError>(n.integer("antialias", 0) == 0 && !n.has_attribute("axes") &&
                           n.text("keep_aspect_ratio_policy", "stretch") == "stretch",
                       "antialias, axes and keep_aspect_ratio_policy are not supported");
    scales_at = 2;
  }
  Pair out = x.size;
  bool whole = true;  // multiples of the image
  const auto set = [&](const std::vector<double>& scales) {
    require<DataError>(scales.size() == 2 + axes && scales[0] == 1 && scales[1] == 1,
                       "expected scales of height and width alone");
    for (std::size_t i = 2 - axes; i < 2; ++i) {
      const double scale = scales[i + axes];
      const double exact = static_cast<double>(x.size[i]) * scale;
      require<DataError>(exact >= 1 && exact < (1 << 24) &&
                             std::abs(exact - std::round(exact)) < 1e-3,
                         "expected a scale that gives a whole number of pixels; got {} for {}",
                         scale, x.size[i]);
      out[i] = static_cast<std::int64_t>(std::round(exact));
    }
  };
  if (old && n.opset() < 9) {
    set(n.numbers("scales"));
  } else if (n.has(3)) {
    const std::vector<std::int64_t> sizes = n.constant(3)->integers();
    require<DataError>(sizes.size() == 2 + axes && sizes[1] == x.channels && sizes[2] > 0 &&
                           sizes.back() > 0,
                       "sizes {} do not fit", text_of(sizes));
    std::copy(sizes.begin() + 2, sizes.end(), out.end() - static_cast<std::ptrdiff_t>(axes));
  } else {
    set(n.constant(scales_at)->values());
  }
  for (std::size_t i = 0; i < 2; ++i) whole = whole && out[i] % x.size[i] == 0;
  if (mode == "nearest") {
    const bool floors = centres == "asymmetric" && nearest == "floor";
    const bool same = whole && (centres == "half_pixel" || centres == "pytorch_half_pixel") &&
                      (nearest == "round_prefer_floor" || nearest == "round_prefer_ceil");
    require<DataError>(floors || same || (whole && centres == "asymmetric" && nearest == "floor"),
                       "mode 'nearest' with '{}' and '{}' is not supported", centres, nearest);
  } else {
    require<DataError>(mode == "linear" &&
                           (centres == "half_pixel" || centres == "pytorch_half_pixel"),
                       "mode '{}' with '{}' is not supported", mode, centres);
    const bool has_more = (out[0] > 1 || x.size[0] == 1) && (out[1] > 1 || x.size[1] == 1);
    require<DataError>(centres == "half_pixel" || has_more,
                       "'pytorch_half_pixel' of one pixel is not supported");
  }
  n.give(x.back(resize2d(x.e, {out[0], out[1]}, mode == "linear")));
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
  const char* limit =
      "sequences and images; nearest (asymmetric and floor, or whole factors) and linear "
      "(half_pixel)";
  all["Resize"] = {resize, limit};
  all["Upsample"] = {resize, "sequences and images; nearest"};
}

}  // namespace linnet::onnx
