// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/global_pooling.h>

#include <limits>

#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "nn/layers/sequences.h"
#include "ops/global_pool/global_pool.h"
#include "ops/reduce/reduce.h"
#include "ops/sequence_mask/sequence_mask.h"

namespace linnet {
namespace {

/// Returns the steps (N, T, C) in which those that don't count have no part in a reduction.
Value counted_steps(NetworkBuilder& builder, std::string_view kind, const std::string& layer,
                    const SequenceMaskAttrs& mask) {
  require_sequences(kind, layer, builder.shape());
  const Value lengths = builder.take_lengths();
  if (!lengths) return builder.current();
  return builder.graph().emit(SequenceMaskOp(mask), {builder.current(), lengths}, layer);
}

}  // namespace

void GlobalAvgPool2d::build(NetworkBuilder& builder) const {
  builder.apply(GlobalAvgPoolOp(), builder.begin(*this));
}

void GlobalMaxPool2d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  builder.set_current(
      builder.graph().add(std::make_shared<GlobalMaxPoolOp>(), {builder.current()}, layer)[0]);
}

void GlobalAvgPool1d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Value steps = counted_steps(builder, "global_avg_pool1d", layer, {.mean = true});
  const Reduction kind = builder.lengths() ? Reduction::sum : Reduction::mean;
  builder.set_current(builder.graph().emit(ReduceOp({.kind = kind, .axes = {1}}), {steps}, layer));
}

void GlobalMaxPool1d::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Value steps = counted_steps(builder, "global_max_pool1d", layer,
                                    {.fill = std::numeric_limits<float>::lowest()});
  builder.set_current(
      builder.graph().emit(ReduceOp({.kind = Reduction::max, .axes = {1}}), {steps}, layer));
}

void register_global_pooling(LayerTypes& types) {
  types.add({.kind = "global_avg_pool2d",
             .name = "GlobalAvgPool2d",
             .in = "(N, H, W, C)",
             .out = "(N, C)",
             .fields = {}},
            GlobalAvgPool2d{});
  types.add({.kind = "global_max_pool2d",
             .name = "GlobalMaxPool2d",
             .in = "(N, H, W, C)",
             .out = "(N, C)",
             .fields = {}},
            GlobalMaxPool2d{});
  types.add({.kind = "global_avg_pool1d",
             .name = "GlobalAvgPool1d",
             .in = "(N, T, C)",
             .out = "(N, C)",
             .fields = {}},
            GlobalAvgPool1d{});
  types.add({.kind = "global_max_pool1d",
             .name = "GlobalMaxPool1d",
             .in = "(N, T, C)",
             .out = "(N, C)",
             .fields = {}},
            GlobalMaxPool1d{});
}

}  // namespace linnet
