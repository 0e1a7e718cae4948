// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "nn/layers/convolution.h"
#include "nn/layers/pooling.h"
#include "ops/bin_mean2d/bin_mean2d.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv_transpose2d/conv_transpose2d.h"
#include "ops/dropout/dropout.h"
#include "ops/pool2d/pool2d.h"
#include "ops/upsample2d/upsample2d.h"

namespace linnet {
namespace {

void require_image(std::string_view function, const Expression& x) {
  require(x.batched() && x.shape().rank() == 3,
          "[{}] expected samples that are images (height, width, channels); got {}", function,
          to_string(x.shape()));
}

Pool2dAttrs windows(std::string_view function, const Expression& x, Size2d size, Size2d stride,
                    const Padding2d& padding) {
  require_image(function, x);
  if (stride == Size2d(0)) stride = size;
  require(size.height > 0 && size.width > 0 && stride.height > 0 && stride.width > 0,
          "[{}] expected a window and strides of at least 1; got ({}, {}) and ({}, {})", function,
          size.height, size.width, stride.height, stride.width);
  return pool_attributes(whole_shape(x), size, stride, padding);
}

}  // namespace

Expression conv2d(const Expression& x, const Expression& weight, const Conv2dOptions& options) {
  require_image("conv2d", x);
  const auto& [stride, padding, dilation, groups] = options;
  const Shape w = weight.shape();
  require(
      !weight.batched() && w.rank() == 4 && groups > 0 && w[3] * groups == x.shape()[2] &&
          w[0] % groups == 0,
      "[conv2d] expected a weight (filters, height, width, channels / {}) for images of {}; got "
      "{}",
      groups, to_string(x.shape()), to_string(w));
  require(stride.height > 0 && stride.width > 0 && dilation.height > 0 && dilation.width > 0,
          "[conv2d] expected strides and dilations of at least 1; got ({}, {}) and ({}, {})",
          stride.height, stride.width, dilation.height, dilation.width);
  return emit(Conv2dOp(conv_attributes(whole_shape(x), {w[1], w[2]}, options)), {x, weight});
}

Expression conv_transpose2d(const Expression& x, const Expression& weight,
                            const ConvTranspose2dOptions& options) {
  require_image("conv_transpose2d", x);
  const Shape w = weight.shape();
  const std::int64_t groups = options.groups;
  require(!weight.batched() && w.rank() == 4 && groups > 0 && w[0] == x.shape()[2] &&
              w[0] % groups == 0,
          "[conv_transpose2d] expected a weight (channels, height, width, filters / {}) for images "
          "of {}; got {}",
          groups, to_string(x.shape()), to_string(w));
  const auto& [stride, padding, more, dilation, same_groups] = options;
  require(stride.height > 0 && stride.width > 0 && dilation.height > 0 && dilation.width > 0 &&
              more.height >= 0 && more.width >= 0,
          "[conv_transpose2d] expected strides and dilations of at least 1 and an output padding "
          "of at least 0; got ({}, {}), ({}, {}) and ({}, {})",
          stride.height, stride.width, dilation.height, dilation.width, more.height, more.width);
  return emit(ConvTranspose2dOp(conv_transpose_attributes("conv_transpose2d", whole_shape(x),
                                                          {w[1], w[2]}, options)),
              {x, weight});
}

Expression max_pool2d(const Expression& x, Size2d size, Size2d stride, Padding2d padding) {
  return emit(MaxPool2dOp(windows("max_pool2d", x, size, stride, padding)), {x});
}

Expression avg_pool2d(const Expression& x, Size2d size, Size2d stride, Padding2d padding) {
  return emit(AvgPool2dOp(windows("avg_pool2d", x, size, stride, padding)), {x});
}

Expression adaptive_avg_pool2d(const Expression& x, Size2d output) {
  require_image("adaptive_avg_pool2d", x);
  require(output.height > 0 && output.width > 0,
          "[adaptive_avg_pool2d] expected at least one bin; got ({}, {})", output.height,
          output.width);
  return emit(BinMean2dOp({.out_h = output.height, .out_w = output.width}), {x});
}

Expression resize2d(const Expression& x, Size2d size, bool bilinear) {
  require_image("resize2d", x);
  require(size.height > 0 && size.width > 0, "[resize2d] expected at least one pixel; got ({}, {})",
          size.height, size.width);
  return emit(Upsample2dOp({.mode = bilinear ? Upsampling::bilinear : Upsampling::nearest,
                            .out_h = size.height,
                            .out_w = size.width}),
              {x});
}

Expression dropout(const Expression& x, double rate) {
  require(x.scope()->builder != nullptr,
          "[dropout] expected a network; got a loss or metric, which inference computes too");
  const auto stream = static_cast<std::int64_t>(x.scope()->graph.nodes().size());
  return emit(DropoutOp({.rate = rate, .stream = stream}), {x});
}

}  // namespace linnet
