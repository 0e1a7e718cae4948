// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/pooling2d.h>

#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "nn/layers/pooling.h"

namespace linnet {
namespace {

/// Returns the output's dimension along one axis. Throws Error where the window doesn't fit the
/// padded input.
std::int64_t windows_along(std::string_view kind, const std::string& layer, std::int64_t in,
                           std::int64_t size, std::int64_t stride, std::int64_t before,
                           std::int64_t after) {
  require(before >= 0 && after >= 0 && before < size && after < size && size <= in + before + after,
          "[{} '{}'] expected padding smaller than the window and a window that fits; got a window "
          "of {}, padding {} and {}, an input of {}",
          kind, layer, size, before, after, in);
  return (in + before + after - size) / stride + 1;
}

}  // namespace

BinMean2dAttrs bins_inside(std::string_view kind, const std::string& layer, const Shape& x,
                           const Pool2dAttrs& a) {
  const auto rows = windows_along(kind, layer, x[1], a.size_h, a.stride_h, a.pad_top, a.pad_bottom);
  const auto columns =
      windows_along(kind, layer, x[2], a.size_w, a.stride_w, a.pad_left, a.pad_right);
  return {.out_h = rows,
          .out_w = columns,
          .size_h = a.size_h,
          .size_w = a.size_w,
          .stride_h = a.stride_h,
          .stride_w = a.stride_w,
          .pad_top = a.pad_top,
          .pad_left = a.pad_left};
}

void MaxPool2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Pool2dAttrs attrs =
      layer_windows("max_pool2d", layer, builder.shape(), size, stride, padding);
  builder.set_current(
      builder.graph().add(std::make_shared<MaxPool2dOp>(attrs), {builder.current()}, layer)[0]);
}

void AvgPool2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Shape& x = builder.shape();
  const Pool2dAttrs a = layer_windows("avg_pool2d", layer, x, size, stride, padding);
  if (count_include_pad) {
    builder.apply(AvgPool2dOp(a), layer);
  } else {
    builder.apply(BinMean2dOp(bins_inside("avg_pool2d", layer, x, a)), layer);
  }
}

void AdaptiveAvgPool2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  require_images("adaptive_avg_pool2d", layer, builder.shape());
  builder.apply(BinMean2dOp({.out_h = output.height, .out_w = output.width}), layer);
}

void register_pooling2d(LayerTypes& types) {
  types.add({.kind = "max_pool2d",
             .name = "MaxPool2d",
             .in = "(N, H, W, C)",
             .out = "(N, H', W', C)",
             .fields = {field<&MaxPool2d::size>("size").at_least(1),
                        field<&MaxPool2d::stride>("stride").at_least(0),
                        field<&MaxPool2d::padding>("padding").at_least(0)}},
            MaxPool2d{.size = 3, .stride = 2});
  types.add({.kind = "avg_pool2d",
             .name = "AvgPool2d",
             .in = "(N, H, W, C)",
             .out = "(N, H', W', C)",
             .fields = {field<&AvgPool2d::size>("size").at_least(1),
                        field<&AvgPool2d::stride>("stride").at_least(0),
                        field<&AvgPool2d::padding>("padding").at_least(0),
                        field<&AvgPool2d::count_include_pad>("count_include_pad")}},
            AvgPool2d{.size = 3, .stride = 1, .padding = Padding2d::all(1)});
  types.add({.kind = "adaptive_avg_pool2d",
             .name = "AdaptiveAvgPool2d",
             .in = "(N, H, W, C)",
             .out = "(N, output height, output width, C)",
             .fields = {field<&AdaptiveAvgPool2d::output>("output").at_least(1)}},
            AdaptiveAvgPool2d{.output = {7, 5}});
}

}  // namespace linnet
