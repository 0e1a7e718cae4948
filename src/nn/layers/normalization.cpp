// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "core/dims.h"
#include "nn/builder.h"
#include "ops/group_norm/group_norm.h"

namespace linnet {
namespace {

void add_norm(NetworkBuilder& builder, const std::string& layer, const GroupNormAttrs& attrs) {
  const std::vector<std::int64_t> dims = dims_of(builder.shape());
  const Shape channels(std::vector<std::int64_t>(dims.end() - attrs.channels, dims.end()));
  const std::int64_t fan = channels.elements();
  const Value weight = builder.weight(layer, "weight", channels, kOnes, fan, fan);
  const Value bias = builder.weight(layer, "bias", channels, kZeros, fan, fan);
  builder.set_current(builder.graph().add(std::make_shared<GroupNormOp>(attrs),
                                          {builder.current(), weight, bias}, layer)[0]);
}

}  // namespace

void LayerNorm::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "layer_norm");
  const auto rank = static_cast<std::int64_t>(builder.shape().rank());
  require(epsilon > 0, "[layer_norm '{}'] expected an epsilon above 0; got {}", layer, epsilon);
  require(axes >= 1 && axes < rank, "[layer_norm '{}'] expected 1 to {} axes of {}; got {}", layer,
          rank - 1, to_string(builder.shape()), axes);
  add_norm(builder, layer, {.epsilon = epsilon, .rows = rank - axes, .channels = axes});
}

void GroupNorm::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "group_norm");
  require(epsilon > 0, "[group_norm '{}'] expected an epsilon above 0; got {}", layer, epsilon);
  const std::int64_t channels = builder.shape()[-1];
  require(groups >= 1 && channels % groups == 0,
          "[group_norm '{}'] expected groups that divide {} channels; got {}", layer, channels,
          groups);
  add_norm(builder, layer, {.epsilon = epsilon, .groups = groups});
}

}  // namespace linnet
