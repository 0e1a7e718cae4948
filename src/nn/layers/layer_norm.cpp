// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/layer_norm.h>

#include "base/check.h"
#include "nn/layer_fields.h"
#include "nn/layers/norm.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/reduce/reduce.h"
#include "ops/unary/unary.h"

namespace linnet {

void LayerNorm::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const auto rank = static_cast<std::int64_t>(builder.shape().rank());
  require(axes < rank, "[layer_norm '{}'] expected 1 to {} axes of {}; got {}", layer, rank - 1,
          to_string(builder.shape()), axes);
  add_norm(builder, layer, {.epsilon = epsilon, .rows = rank - axes, .channels = axes});
}

void RMSNorm::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Value x = builder.current();
  const auto last = static_cast<std::int64_t>(builder.shape().rank()) - 1;
  const std::int64_t features = builder.shape()[-1];
  require(last > 0, "[rms_norm '{}'] expected samples with an axis; got {}", layer,
          to_string(builder.shape()));
  builder.apply(UnaryOp({Unary::square}), layer);
  builder.apply(ReduceOp({.kind = Reduction::mean, .axes = {last}, .keep_dims = true}), layer);
  builder.apply(ScaleOp({.alpha = 1, .beta = epsilon}), layer);
  builder.apply(UnaryOp({Unary::rsqrt}), layer);
  const Value weight = builder.weight(layer, "weight", {features}, kOnes, features, features);
  const ArithmeticOp times({Arithmetic::multiply});
  const Value normal = builder.graph().emit(times, {x, builder.current()}, layer);
  builder.set_current(builder.graph().emit(times, {normal, weight}, layer));
}

void register_layer_norm(LayerTypes& types) {
  types.add({.kind = "layer_norm",
             .name = "LayerNorm",
             .in = "(N, ...)",
             .out = "(N, ...)",
             .fields = {field<&LayerNorm::epsilon>("epsilon").above(0),
                        field<&LayerNorm::axes>("axes").at_least(1)}},
            LayerNorm{.epsilon = 1e-6});
  types.add({.kind = "rms_norm",
             .name = "RMSNorm",
             .in = "(N, ..., features)",
             .out = "(N, ..., features)",
             .fields = {field<&RMSNorm::epsilon>("epsilon").above(0)}},
            RMSNorm{.epsilon = 1e-5});
}

}  // namespace linnet
