// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "nn/builder.h"
#include "nn/layers/window.h"
#include "ops/global_pool/global_pool.h"
#include "ops/pool2d/pool2d.h"

namespace linnet {
namespace {

Pool2dAttrs window_attributes(std::string_view kind, const std::string& layer, const Shape& x,
                              Size2d size, Size2d stride, const Padding2d& padding) {
  require_images(kind, layer, x);
  if (stride == Size2d(0)) stride = size;
  require(size.height > 0 && size.width > 0 && stride.height > 0 && stride.width > 0,
          "[{} '{}'] expected a window and strides of at least 1; got ({}, {}) and ({}, {})", kind,
          layer, size.height, size.width, stride.height, stride.width);
  const Sides sides = resolve(padding, x, size, stride);
  return {.size_h = size.height,
          .size_w = size.width,
          .stride_h = stride.height,
          .stride_w = stride.width,
          .pad_top = sides.top,
          .pad_bottom = sides.bottom,
          .pad_left = sides.left,
          .pad_right = sides.right};
}

}  // namespace

void MaxPool2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "max_pool2d");
  const Pool2dAttrs attrs =
      window_attributes("max_pool2d", layer, builder.shape(), size, stride, padding);
  builder.set_current(
      builder.graph().add(std::make_shared<MaxPool2dOp>(attrs), {builder.current()}, layer)[0]);
}

void AvgPool2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "avg_pool2d");
  builder.apply(AvgPool2dOp(
                    window_attributes("avg_pool2d", layer, builder.shape(), size, stride, padding)),
                layer);
}

void GlobalAvgPool2d::build(NetworkBuilder& builder) const {
  builder.apply(GlobalAvgPoolOp(), builder.layer_name(name, "global_avg_pool2d"));
}

void GlobalMaxPool2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "global_max_pool2d");
  builder.set_current(
      builder.graph().add(std::make_shared<GlobalMaxPoolOp>(), {builder.current()}, layer)[0]);
}

}  // namespace linnet
