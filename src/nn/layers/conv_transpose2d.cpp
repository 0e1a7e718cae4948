// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_transpose2d/conv_transpose2d.h"

#include <linnet/layers/conv_transpose2d.h>

#include <algorithm>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "nn/layers/convolution.h"
#include "nn/layers/window.h"
#include "ops/bias_add/bias_add.h"

namespace linnet {
namespace {

/// Describes how a transposed convolution's output lies along one axis.
struct Stretch {
  std::int64_t dim = 0;     ///< of the output
  std::int64_t before = 0;  ///< padding of the convolution that leads back
  std::int64_t after = 0;
};

/// `reach` is how far the kernel spreads, dilation included.
Stretch stretch(std::int64_t in, std::int64_t reach, std::int64_t stride, std::int64_t more,
                Padding2d::Mode mode, std::int64_t before, std::int64_t after) {
  if (mode == Padding2d::Mode::same) {
    const std::int64_t total = std::max<std::int64_t>(reach - stride, 0);
    return {in * stride, total / 2, total - total / 2};
  }
  if (mode == Padding2d::Mode::valid) before = after = 0;
  return {(in - 1) * stride + reach + more - before - after, before, after};
}

}  // namespace

Conv2dGradInputAttrs conv_transpose_attributes(std::string_view owner, const Shape& x,
                                               Size2d kernel,
                                               const ConvTranspose2dOptions& options) {
  const auto& [stride, padding, more, dilation, groups] = options;
  const bool same = padding.mode == Padding2d::Mode::same;
  require(more.height < stride.height && more.width < stride.width && !(same && more != Size2d(0)),
          "[{}] expected an output padding below the strides ({}, {}), and none with padding "
          "\"same\"; got ({}, {})",
          owner, stride.height, stride.width, more.height, more.width);
  const Stretch rows = stretch(x[1], (kernel.height - 1) * dilation.height + 1, stride.height,
                               more.height, padding.mode, padding.top, padding.bottom);
  const Stretch columns = stretch(x[2], (kernel.width - 1) * dilation.width + 1, stride.width,
                                  more.width, padding.mode, padding.left, padding.right);
  require(rows.dim > 0 && columns.dim > 0,
          "[{}] expected padding smaller than the output of {}; got top {}, bottom {}, left {}, "
          "right {}",
          owner, to_string(x), rows.before, rows.after, columns.before, columns.after);
  const Conv2dAttrs back{.stride_h = stride.height,
                         .stride_w = stride.width,
                         .dilation_h = dilation.height,
                         .dilation_w = dilation.width,
                         .groups = groups,
                         .pad_top = rows.before,
                         .pad_bottom = rows.after,
                         .pad_left = columns.before,
                         .pad_right = columns.after};
  return {back, rows.dim, columns.dim};
}

void ConvTranspose2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Shape x = builder.shape();
  require_images("conv_transpose2d", layer, x);
  const std::int64_t channels = x[3];
  require(channels % groups == 0 && filters % groups == 0,
          "[conv_transpose2d '{}'] expected groups that divide {} channels and {} filters; got {}",
          layer, channels, filters, groups);
  const Conv2dGradInputAttrs attrs =
      conv_transpose_attributes(fmt::format("conv_transpose2d '{}'", layer), x, kernel,
                                {stride, padding, output_padding, dilation, groups});
  const std::int64_t area = kernel.height * kernel.width;
  const std::int64_t fan_in = channels / groups * area;
  const Value w =
      builder.weight(layer, "weight", {channels, kernel.height, kernel.width, filters / groups},
                     weight_init, fan_in, filters * area);
  Value y = builder.graph().emit(ConvTranspose2dOp(attrs), {builder.current(), w}, layer);
  if (bias) {
    const Value b = builder.weight(layer, "bias", {filters}, bias_init, fan_in, filters * area);
    y = builder.graph().emit(BiasAddOp(), {y, b}, layer);
  }
  builder.set_current(y);
}

void register_conv_transpose2d(LayerTypes& types) {
  types.add({.kind = "conv_transpose2d",
             .name = "ConvTranspose2d",
             .in = "(N, H, W, C)",
             .out = "(N, H', W', filters)",
             .fields = {field<&ConvTranspose2d::filters>("filters").at_least(1).required(),
                        field<&ConvTranspose2d::kernel>("kernel").at_least(1),
                        field<&ConvTranspose2d::stride>("stride").at_least(1),
                        field<&ConvTranspose2d::padding>("padding").at_least(0),
                        field<&ConvTranspose2d::output_padding>("output_padding").at_least(0),
                        field<&ConvTranspose2d::dilation>("dilation").at_least(1),
                        field<&ConvTranspose2d::groups>("groups").at_least(1),
                        field<&ConvTranspose2d::bias>("bias"),
                        field<&ConvTranspose2d::weight_init>("weight_init"),
                        field<&ConvTranspose2d::bias_init>("bias_init")}},
            ConvTranspose2d{.filters = 8, .stride = 2, .padding = Padding2d::same()});
}

}  // namespace linnet
