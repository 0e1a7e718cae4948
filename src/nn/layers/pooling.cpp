// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layers/one_row.h"
#include "nn/layers/sequences.h"
#include "nn/layers/window.h"
#include "ops/bin_mean2d/bin_mean2d.h"
#include "ops/global_pool/global_pool.h"
#include "ops/pool2d/pool2d.h"
#include "ops/reduce/reduce.h"
#include "ops/sequence_mask/sequence_mask.h"

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

template <class Pool>
Pool2dAttrs sequence_windows(std::string_view kind, const std::string& layer, const Shape& x,
                             const Pool& pool) {
  const std::int64_t step = pool.stride == 0 ? pool.size : pool.stride;
  return window_attributes(kind, layer, x, {1, pool.size}, {1, step}, along_sequence(pool.padding));
}

/// The output's extent along one axis. Throws Error where the window doesn't fit the padded input.
std::int64_t windows(const std::string& layer, std::int64_t in, std::int64_t size,
                     std::int64_t stride, std::int64_t before, std::int64_t after) {
  require(before >= 0 && after >= 0 && before < size && after < size && size <= in + before + after,
          "[avg_pool2d '{}'] expected padding smaller than the window and a window that fits; got "
          "a window of {}, padding {} and {}, an input of {}",
          layer, size, before, after, in);
  return (in + before + after - size) / stride + 1;
}

/// The steps (N, T, C) in which those that don't count have no part in a reduction.
Value counted_steps(NetworkBuilder& builder, std::string_view kind, const std::string& layer,
                    const SequenceMaskAttrs& mask) {
  require_sequences(kind, layer, builder.shape());
  const Value lengths = builder.take_lengths();
  if (!lengths) return builder.current();
  return builder.graph().emit(SequenceMaskOp(mask), {builder.current(), lengths}, layer);
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
  const Shape& x = builder.shape();
  const Pool2dAttrs a = window_attributes("avg_pool2d", layer, x, size, stride, padding);
  if (count_include_pad) {
    builder.apply(AvgPool2dOp(a), layer);
    return;
  }
  const std::int64_t rows = windows(layer, x[1], a.size_h, a.stride_h, a.pad_top, a.pad_bottom);
  const std::int64_t columns = windows(layer, x[2], a.size_w, a.stride_w, a.pad_left, a.pad_right);
  builder.apply(BinMean2dOp({.out_h = rows,
                             .out_w = columns,
                             .size_h = a.size_h,
                             .size_w = a.size_w,
                             .stride_h = a.stride_h,
                             .stride_w = a.stride_w,
                             .pad_top = a.pad_top,
                             .pad_left = a.pad_left}),
                layer);
}

void AdaptiveAvgPool2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "adaptive_avg_pool2d");
  require_images("adaptive_avg_pool2d", layer, builder.shape());
  require(output.height > 0 && output.width > 0,
          "[adaptive_avg_pool2d '{}'] expected an output of at least one pixel; got ({}, {})",
          layer, output.height, output.width);
  builder.apply(BinMean2dOp({.out_h = output.height, .out_w = output.width}), layer);
}

void MaxPool1d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "max_pool1d");
  sequence_to_image(builder, "max_pool1d", layer);
  const Pool2dAttrs attrs = sequence_windows("max_pool1d", layer, builder.shape(), *this);
  builder.set_current(
      builder.graph().add(std::make_shared<MaxPool2dOp>(attrs), {builder.current()}, layer)[0]);
  image_to_sequence(builder, layer);
}

void AvgPool1d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "avg_pool1d");
  sequence_to_image(builder, "avg_pool1d", layer);
  builder.apply(AvgPool2dOp(sequence_windows("avg_pool1d", layer, builder.shape(), *this)), layer);
  image_to_sequence(builder, layer);
}

void GlobalAvgPool1d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "global_avg_pool1d");
  const Value steps = counted_steps(builder, "global_avg_pool1d", layer, {.mean = true});
  const Reduction kind = builder.lengths() ? Reduction::sum : Reduction::mean;
  builder.set_current(builder.graph().emit(ReduceOp({.kind = kind, .axes = {1}}), {steps}, layer));
}

void GlobalMaxPool1d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "global_max_pool1d");
  const Value steps = counted_steps(builder, "global_max_pool1d", layer,
                                    {.fill = std::numeric_limits<float>::lowest()});
  builder.set_current(
      builder.graph().emit(ReduceOp({.kind = Reduction::max, .axes = {1}}), {steps}, layer));
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
