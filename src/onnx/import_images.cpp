// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>
#include <linnet/layers/conv1d.h>
#include <linnet/layers/conv2d.h>
#include <linnet/layers/conv3d.h>
#include <linnet/layers/conv_transpose2d.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/check.h"
#include "nn/layers/volumes.h"
#include "onnx/windows.h"
#include "ops/reshape/reshape.h"

namespace linnet::onnx {
namespace {

/// Dims of a convolution's weight, as those of images where it is of sequences.
Dims weight_dims(const Constant& w, const Images& x) {
  const std::size_t rank = x.axes.count + 2;
  require<DataError>(w.dims().size() == rank, "expected a weight of {} axes; got {}", rank,
                     text_of(w.dims()));
  Dims dims = w.dims();
  if (x.sequence()) dims.insert(dims.begin() + 2, 1);
  return dims;
}

void set_bias(NodeImport& n, const std::string& layer, std::int64_t filters) {
  if (!n.has(2)) return;
  require<DataError>(n.constant(2)->dims() == Dims{filters}, "expected a bias of {}; got {}",
                     filters, text_of(n.constant(2)->dims()));
  n.network().set_weight(layer, "bias", n.constant(2), as_is({filters}));
}

/// Fills in what convolutions of images and volumes share, but the name.
template <class Conv>
Conv convolution(NodeImport& n, const Images& x, const Dims& dims, const Window& window) {
  const std::int64_t groups = n.integer("group", 1);
  require<DataError>(groups > 0 && dims[1] <= x.channels && dims[1] * groups == x.channels &&
                         window.kernel == Pair{dims[dims.size() - 2], dims.back()} &&
                         dims[0] % groups == 0,
                     "a weight of {} in {} groups does not fit {} channels",
                     text_of(n.constant(1)->dims()), groups, x.channels);
  Conv conv;
  conv.filters = dims[0];
  conv.groups = groups;
  conv.bias = n.has(2);
  return conv;
}

/// Gives the result of a layer on x, with the node's weights; `held`: where the network has them
/// already.
template <class Conv, class Held>
void give_convolution(NodeImport& n, const Images& x, Conv conv, const Layout& layout, Held held) {
  const ConstantPtr& w = n.constant(1);
  if (n.network().is_weight(*w) || (n.has(2) && n.network().is_weight(*n.constant(2)))) {
    n.give(x.back(held(n.weight(w, layout))));
    return;
  }
  conv.name = n.layer_name(*w);
  const Expression y = x.e | conv;
  n.network().set_weight(conv.name, "weight", w, layout);
  set_bias(n, conv.name, conv.filters);
  n.give(x.back(n.scoped(y)));
}

void convolve_planes(NodeImport& n, const Images& x) {
  const Dims dims = weight_dims(*n.constant(1), x);
  const Window window = window_of(n, x.size, x.axes, {dims[3], dims[4]});
  const Window depth = window_of(n, {1, x.e.shape()[0]}, {3, {-1, 0}}, {1, dims[2]});
  auto conv = convolution<Conv3d>(n, x, dims, window);
  require<DataError>(depth.kernel[1] == dims[2], "kernel_shape does not fit a weight of {}",
                     text_of(dims));
  conv.kernel = {dims[2], dims[3], dims[4]};
  conv.stride = {depth.stride[1], window.stride[0], window.stride[1]};
  conv.dilation = {depth.dilation[1], window.dilation[0], window.dilation[1]};
  conv.padding = {Padding3d::Mode::fixed, depth.before[1],  depth.after[1], window.before[0],
                  window.after[0],        window.before[1], window.after[1]};
  const Layout layout{dims, {0, 3, 4, 2, 1}, {dims[0], dims[3], dims[4], dims[2] * dims[1]}};
  give_convolution(n, x, conv, layout, [&](const Expression& w) {
    if (!n.has(2)) return convolve_volumes(x.e, w, nullptr, conv);
    const Expression bias = n.weight(n.constant(2), as_is({dims[0]}));
    return convolve_volumes(x.e, w, &bias, conv);
  });
}

void convolve(NodeImport& n) {
  const Images x = images_of(n, 3);
  if (x.volumes()) return convolve_planes(n, x);
  const Dims dims = weight_dims(*n.constant(1), x);
  const Window window = window_of(n, x.size, x.axes, {dims[2], dims[3]});
  auto conv = convolution<Conv2d>(n, x, dims, window);
  conv.kernel = window.size();
  conv.stride = {window.stride[0], window.stride[1]};
  conv.padding = window.padding();
  conv.dilation = {window.dilation[0], window.dilation[1]};
  give_convolution(n, x, conv, in_order(dims, {0, 2, 3, 1}), [&](const Expression& w) {
    const Expression y = conv2d(x.e, w, {conv.stride, conv.padding, conv.dilation, conv.groups});
    return n.has(2) ? y + n.weight(n.constant(2), as_is({dims[0]})) : y;
  });
}

/// Settings of a transposed convolution along rows and columns.
struct Back {
  Window window;
  Pair more{};  ///< pixels of the result that no window reaches, after it
};

/// Reads them, where the result's size is given too.
Back back_of(NodeImport& n, const Pair& size, const Axes2& axes, Pair kernel) {
  Back b{window_of(n, size, axes, kernel), pair_of(n, "output_padding", 0, axes, {0, 0})};
  auto& [window, more] = b;
  const std::string automatic = n.text("auto_pad", "NOTSET");
  const std::vector<std::int64_t> wanted = n.integers("output_shape");
  if (wanted.empty() && !automatic.starts_with("SAME")) {
    // PyTorch's output padding may be a stride or more, with dilation: less is cut.
    for (std::size_t i = 0; i < 2; ++i) {
      const bool fits = more[i] < window.stride[i];
      const std::int64_t uncut = fits ? 0 : std::min(more[i], window.after[i]);
      window.after[i] -= uncut;
      more[i] -= uncut;
    }
    return b;
  }
  require<DataError>(std::max(size[0], size[1]) < (std::int64_t{1} << 31),
                     "expected images of less than 2^31 pixels a side");
  const Pair out =
      pair_of(n, "output_shape", 1, axes, {size[0] * window.stride[0], size[1] * window.stride[1]});
  for (std::size_t i = 0; i < 2; ++i) {
    if (axes.of[i] < 0) continue;
    std::int64_t cut = (size[i] - 1) * window.stride[i] + window.span(i) + more[i] - out[i];
    if (cut < 0 && !wanted.empty()) more[i] -= cut;
    cut = std::max<std::int64_t>(cut, 0);
    window.before[i] = automatic == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
    window.after[i] = cut - window.before[i];
  }
  return b;
}

void require_weight_back(NodeImport& n, const Images& x, const Dims& dims, std::int64_t groups) {
  require<DataError>(groups > 0 && dims[0] == x.channels && dims[0] % groups == 0,
                     "a weight of {} in {} groups does not fit {} channels",
                     text_of(n.constant(1)->dims()), groups, x.channels);
}

/// Planes of volumes are transposed as images whose channels are the planes that each becomes;
/// these are then added up where they lie.
void convolve_planes_back(NodeImport& n, const Images& x) {
  const Dims dims = weight_dims(*n.constant(1), x);
  const std::int64_t groups = n.integer("group", 1);
  require_weight_back(n, x, dims, groups);
  const Back plane = back_of(n, x.size, x.axes, {dims[3], dims[4]});
  const Shape s = x.e.shape();
  const Back depth = back_of(n, {1, s[0]}, {3, {-1, 0}}, {1, dims[2]});
  const Pair kernel{dims[3], dims[4]};
  require<DataError>(plane.window.kernel == kernel && depth.window.kernel[1] == dims[2],
                     "kernel_shape does not fit a weight of {}", text_of(dims));
  const std::int64_t count = dims[2];
  require<DataError>(s[0] < (std::int64_t{1} << 31), "expected less than 2^31 planes");
  require<DataError>(depth.more[1] < std::max(depth.window.stride[1], depth.window.dilation[1]),
                     "expected an output padding below stride or dilation; got {}", depth.more[1]);
  require<DataError>(count <= 1024, "expected a kernel of at most 1024 planes; got {}", count);
  const Layout layout{dims, {0, 3, 4, 2, 1}, {dims[0], dims[3], dims[4], count * dims[1]}};
  ConvTranspose2dOptions options;
  options.stride = {plane.window.stride[0], plane.window.stride[1]};
  options.padding = plane.window.padding();
  options.output_padding = {plane.more[0], plane.more[1]};
  options.dilation = {plane.window.dilation[0], plane.window.dilation[1]};
  options.groups = groups;
  const Expression images =
      conv_transpose2d(emit(ReshapeOp({.shape = {-1, s[1], s[2], s[3]}}), {x.e}),
                       n.weight(n.constant(1), layout), options);
  const std::int64_t rows = images.shape()[0];
  const std::int64_t columns = images.shape()[1];
  const Expression planes =
      emit(ReshapeOp({.shape = {-1, s[0], rows, columns, groups, count, dims[1]}}), {images});
  const std::int64_t stride = depth.window.stride[1];
  const std::int64_t apart = (s[0] - 1) * stride + 1;
  const std::int64_t all = apart + depth.window.span(1) - 1 + depth.more[1];
  std::optional<Expression> sum;
  for (std::int64_t k = 0; k < count; ++k) {
    Expression one = slice(planes, 4, k, k + 1);
    one = reshape(one, {s[0], 1, rows * columns * groups * dims[1]});
    if (stride > 1) one = pad(one, 1, 0, stride - 1);
    one = reshape(one, {s[0] * stride, rows, columns, groups * dims[1]});
    if (stride > 1) one = slice(one, 0, 0, apart);
    const std::int64_t before = k * depth.window.dilation[1];
    if (all > apart) one = pad(one, 0, before, all - before - apart);
    sum = sum ? *sum + one : one;
  }
  require<DataError>(depth.window.before[1] + depth.window.after[1] < all,
                     "expected pads that leave a plane of {}; got {} and {}", all,
                     depth.window.before[1], depth.window.after[1]);
  const bool cuts = depth.window.before[1] + depth.window.after[1] > 0;
  Expression y = cuts ? slice(*sum, 0, depth.window.before[1], all - depth.window.after[1]) : *sum;
  if (n.has(2)) y = y + n.weight(n.constant(2), as_is({groups * dims[1]}));
  n.give(x.back(y));
}

void convolve_back(NodeImport& n) {
  const Images x = images_of(n, 3);
  if (x.volumes()) return convolve_planes_back(n, x);
  const ConstantPtr& w = n.constant(1);
  const Dims dims = weight_dims(*w, x);
  const std::int64_t groups = n.integer("group", 1);
  require_weight_back(n, x, dims, groups);
  const auto [window, more] = back_of(n, x.size, x.axes, {dims[2], dims[3]});
  const Pair kernel{dims[2], dims[3]};
  require<DataError>(window.kernel == kernel, "kernel_shape does not fit a weight of {}",
                     text_of(w->dims()));
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

}  // namespace

Pair pair_of(NodeImport& n, std::string_view name, std::int64_t least, const Axes2& axes,
             Pair otherwise) {
  if (!n.has_attribute(name)) return otherwise;
  const std::vector<std::int64_t> given = n.integers(name);
  require<DataError>(given.size() == axes.count &&
                         std::ranges::all_of(given,
                                             [&](std::int64_t x) {
                                               return x >= least && x < (std::int64_t{1} << 31);
                                             }),
                     "{} {} does not fit {} axes", name, text_of(given), axes.count);
  for (std::size_t i = 0; i < 2; ++i) {
    if (axes.of[i] >= 0) otherwise[i] = given[static_cast<std::size_t>(axes.of[i])];
  }
  return otherwise;
}

Window window_of(NodeImport& n, const Pair& size, const Axes2& axes, Pair kernel) {
  Window w;
  w.kernel = pair_of(n, "kernel_shape", 1, axes, kernel);
  w.stride = pair_of(n, "strides", 1, axes, {1, 1});
  w.dilation = pair_of(n, "dilations", 1, axes, {1, 1});
  const std::string automatic = n.text("auto_pad", "NOTSET");
  const std::vector<std::int64_t> pads = n.integers("pads");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t out = (size[i] + w.stride[i] - 1) / w.stride[i];
      const std::int64_t all =
          std::max<std::int64_t>((out - 1) * w.stride[i] + w.span(i) - size[i], 0);
      w.before[i] = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      w.after[i] = all - w.before[i];
    }
    return w;
  }
  require<DataError>(automatic == "NOTSET" || automatic == "VALID",
                     "auto_pad '{}' is not supported", automatic);
  if (pads.empty() || automatic == "VALID") return w;
  require<DataError>(pads.size() == 2 * axes.count && std::ranges::all_of(pads,
                                                                          [](std::int64_t p) {
                                                                            return p >= 0 &&
                                                                                   p < (1 << 24);
                                                                          }),
                     "expected a pad for the begin and end of each axis; got {}", text_of(pads));
  for (std::size_t i = 0; i < 2; ++i) {
    if (axes.of[i] < 0) continue;
    const auto at = static_cast<std::size_t>(axes.of[i]);
    w.before[i] = pads[at];
    w.after[i] = pads[axes.count + at];
  }
  return w;
}

Images images_of(NodeImport& n, std::size_t most) {
  const Type type = n.input(0).type();
  const bool levels = n.op() == "MaxPool" && (type == Type::u8 || type == Type::i8);
  const Trace x = levels ? n.trace(0) : n.floats(0);
  const std::size_t rank = x.axes.size();
  require<DataError>(x.e.dtype() == DType::f32 && rank >= 3 && rank <= most + 2,
                     "expected images (N, C, H, W) or sequences (N, C, L) of numbers; got {} {}",
                     name_of(type), text_of(dims_of(x)));
  const Axes2 axes =
      rank == 3 ? kSequence
                : Axes2{rank - 2, {static_cast<int>(rank) - 4, static_cast<int>(rank) - 3}};
  std::vector<int> order;
  for (std::size_t i = 2; i < rank; ++i) order.push_back(static_cast<int>(i));
  order.push_back(1);
  Expression e = arranged(x, order, 0);
  const Shape s = e.shape();
  if (rank == 3) e = reshape(e, {1, s[0], s[1]});
  return {x, axes, std::move(order), e, {rank == 3 ? 1 : s[-3], s[-2]}, s[-1]};
}

void add_images(Operators& all) {
  all["Conv"] = {convolve, "sequences, images and volumes; a constant weight"};
  all["ConvTranspose"] = {convolve_back, "sequences, images and volumes; a constant weight"};
  all["LRN"] = {normalize_channels, "sequences and images"};
}

}  // namespace linnet::onnx
