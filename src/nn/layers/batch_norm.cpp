// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.h"

#include <linnet/layers/batch_norm.h>

#include "nn/builder.h"
#include "nn/layer_fields.h"

namespace linnet {

void BatchNorm::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const std::int64_t channels = builder.shape()[-1];
  const Value gamma = builder.weight(layer, "weight", {channels}, weight_init, channels, channels);
  const Value beta = builder.weight(layer, "bias", {channels}, kZeros, channels, channels);
  const Value mean = builder.statistic(layer, "running_mean", {channels}, kZeros);
  const Value variance = builder.statistic(layer, "running_var", {channels}, kOnes);
  builder.set_current(builder.graph().add(
      std::make_shared<BatchNormOp>(BatchNormAttrs{.epsilon = epsilon, .momentum = momentum}),
      {builder.current(), gamma, beta, mean, variance}, layer)[0]);
}

void register_batch_norm(LayerTypes& types) {
  types.add({.kind = "batch_norm",
             .name = "BatchNorm",
             .in = "(N, ..., C)",
             .out = "(N, ..., C)",
             .fields = {field<&BatchNorm::epsilon>("epsilon").above(0),
                        field<&BatchNorm::momentum>("momentum").between(0, 1),
                        field<&BatchNorm::weight_init>("weight_init")}},
            BatchNorm{.momentum = 0.01});
}

}  // namespace linnet
