// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm.h"

#include "base/check.h"
#include "nn/builder.h"

namespace linnet {

void BatchNorm::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "batch_norm");
  require(epsilon > 0 && momentum >= 0 && momentum <= 1,
          "[batch_norm '{}'] expected epsilon > 0 and momentum in [0, 1]; got {} and {}", layer,
          epsilon, momentum);
  const std::int64_t channels = builder.shape()[-1];
  const Value gamma = builder.weight(layer, "weight", {channels}, weight_init, channels, channels);
  const Value beta = builder.weight(layer, "bias", {channels}, kZeros, channels, channels);
  const Value mean = builder.statistic(layer, "running_mean", {channels}, kZeros);
  const Value variance = builder.statistic(layer, "running_var", {channels}, kOnes);
  builder.set_current(builder.graph().add(
      std::make_shared<BatchNormOp>(BatchNormAttrs{.epsilon = epsilon, .momentum = momentum}),
      {builder.current(), gamma, beta, mean, variance}, layer)[0]);
}

}  // namespace linnet
