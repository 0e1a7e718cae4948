// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/pooling1d.h>

#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "nn/layers/one_row.h"
#include "nn/layers/pooling.h"

namespace linnet {
namespace {

template <class Pool>
Pool2dAttrs sequence_windows(std::string_view kind, const std::string& layer, const Shape& x,
                             const Pool& pool) {
  const std::int64_t step = pool.stride == 0 ? pool.size : pool.stride;
  return layer_windows(kind, layer, x, {1, pool.size}, {1, step}, along_sequence(pool.padding));
}

}  // namespace

void MaxPool1d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  sequence_to_image(builder, "max_pool1d", layer);
  const Pool2dAttrs attrs = sequence_windows("max_pool1d", layer, builder.shape(), *this);
  builder.set_current(
      builder.graph().add(std::make_shared<MaxPool2dOp>(attrs), {builder.current()}, layer)[0]);
  image_to_sequence(builder, layer);
}

void AvgPool1d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  sequence_to_image(builder, "avg_pool1d", layer);
  builder.apply(AvgPool2dOp(sequence_windows("avg_pool1d", layer, builder.shape(), *this)), layer);
  image_to_sequence(builder, layer);
}

void register_pooling1d(LayerTypes& types) {
  types.add({.kind = "max_pool1d",
             .name = "MaxPool1d",
             .in = "(N, T, C)",
             .out = "(N, T', C)",
             .fields = {field<&MaxPool1d::size>("size").at_least(1),
                        field<&MaxPool1d::stride>("stride").at_least(0),
                        field<&MaxPool1d::padding>("padding").at_least(0)}},
            MaxPool1d{.size = 3});
  types.add({.kind = "avg_pool1d",
             .name = "AvgPool1d",
             .in = "(N, T, C)",
             .out = "(N, T', C)",
             .fields = {field<&AvgPool1d::size>("size").at_least(1),
                        field<&AvgPool1d::stride>("stride").at_least(0),
                        field<&AvgPool1d::padding>("padding").at_least(0)}},
            AvgPool1d{.size = 4, .stride = 2});
}

}  // namespace linnet
