// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/pooling3d.h>

#include <memory>

#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "nn/layers/pooling.h"
#include "nn/layers/volumes.h"
#include "ops/bin_mean2d/bin_mean2d.h"
#include "ops/global_pool/global_pool.h"
#include "ops/reshape/reshape.h"

namespace linnet {
namespace {

/// Returns the pool of images x with these windows.
using Pool = OpPtr (*)(const std::string& layer, const Shape& x, const Pool2dAttrs& windows);

/// Pools volumes as images twice: over planes and rows, with the columns as channels, then over
/// columns.
void add_pool(NetworkBuilder& builder, std::string_view kind, const std::string& layer,
              const Size3d& size, Size3d stride, const Padding3d& p, Pool pool) {
  const Shape x = require_volumes(builder, kind, layer);
  if (stride == Size3d(0)) stride = size;
  const auto pooled = [&](std::vector<std::int64_t> images, Size2d window, Size2d step,
                          const Padding2d& padding) {
    builder.apply(ReshapeOp({.shape = std::move(images)}), layer);
    const Shape& shape = builder.shape();
    const Pool2dAttrs windows = layer_windows(kind, layer, shape, window, step, padding);
    builder.set_current(
        builder.graph().add(pool(layer, shape, windows), {builder.current()}, layer)[0]);
    return builder.shape();
  };
  const Shape rows =
      pooled({-1, x[1], x[2], x[3] * x[4]}, {size.depth, size.height},
             {stride.depth, stride.height}, {p.mode, p.front, p.back, p.top, p.bottom});
  const Shape columns = pooled({-1, rows[1] * rows[2], x[3], x[4]}, {1, size.width},
                               {1, stride.width}, {p.mode, 0, 0, p.left, p.right});
  builder.apply(ReshapeOp({.shape = {-1, rows[1], rows[2], columns[2], x[4]}}), layer);
}

/// Makes images of volumes, whose pixels are the voxels.
void join_planes(NetworkBuilder& builder, std::string_view kind, const std::string& layer) {
  const Shape x = require_volumes(builder, kind, layer);
  builder.apply(ReshapeOp({.shape = {-1, x[1] * x[2], x[3], x[4]}}), layer);
}

}  // namespace

void MaxPool3d::build(NetworkBuilder& builder) const {
  add_pool(builder, "max_pool3d", builder.begin(*this), size, stride, padding,
           [](const std::string& /*layer*/, const Shape& /*x*/, const Pool2dAttrs& a) -> OpPtr {
             return std::make_shared<MaxPool2dOp>(a);
           });
}

void AvgPool3d::build(NetworkBuilder& builder) const {
  const Pool with_padding = [](const std::string& /*layer*/, const Shape& /*x*/,
                               const Pool2dAttrs& a) -> OpPtr {
    return std::make_shared<AvgPool2dOp>(a);
  };
  const Pool inside = [](const std::string& layer, const Shape& x, const Pool2dAttrs& a) -> OpPtr {
    return std::make_shared<BinMean2dOp>(bins_inside("avg_pool3d", layer, x, a));
  };
  add_pool(builder, "avg_pool3d", builder.begin(*this), size, stride, padding,
           count_include_pad ? with_padding : inside);
}

void GlobalAvgPool3d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  join_planes(builder, "global_avg_pool3d", layer);
  builder.apply(GlobalAvgPoolOp(), layer);
}

void GlobalMaxPool3d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  join_planes(builder, "global_max_pool3d", layer);
  builder.set_current(
      builder.graph().add(std::make_shared<GlobalMaxPoolOp>(), {builder.current()}, layer)[0]);
}

void register_pooling3d(LayerTypes& types) {
  types.add({.kind = "max_pool3d",
             .name = "MaxPool3d",
             .in = "(N, D, H, W, C)",
             .out = "(N, D', H', W', C)",
             .fields = {field<&MaxPool3d::size>("size").at_least(1),
                        field<&MaxPool3d::stride>("stride").at_least(0),
                        field<&MaxPool3d::padding>("padding").at_least(0)}},
            MaxPool3d{.size = {1, 2, 2}});
  types.add({.kind = "avg_pool3d",
             .name = "AvgPool3d",
             .in = "(N, D, H, W, C)",
             .out = "(N, D', H', W', C)",
             .fields = {field<&AvgPool3d::size>("size").at_least(1),
                        field<&AvgPool3d::stride>("stride").at_least(0),
                        field<&AvgPool3d::padding>("padding").at_least(0),
                        field<&AvgPool3d::count_include_pad>("count_include_pad")}},
            AvgPool3d{.size = 3, .stride = 1, .padding = Padding3d::all(1)});
  types.add({.kind = "global_avg_pool3d",
             .name = "GlobalAvgPool3d",
             .in = "(N, D, H, W, C)",
             .out = "(N, C)",
             .fields = {}},
            GlobalAvgPool3d{});
  types.add({.kind = "global_max_pool3d",
             .name = "GlobalMaxPool3d",
             .in = "(N, D, H, W, C)",
             .out = "(N, C)",
             .fields = {}},
            GlobalMaxPool3d{});
}

}  // namespace linnet
