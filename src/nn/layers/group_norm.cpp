// SPDX-License-Identifier: Apache-2.0
#include "ops/group_norm/group_norm.h"

#include <linnet/layers/group_norm.h>

#include "base/check.h"
#include "nn/layer_fields.h"
#include "nn/layers/norm.h"

namespace linnet {

void GroupNorm::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const std::int64_t channels = builder.shape()[-1];
  require(channels % groups == 0,
          "[group_norm '{}'] expected groups that divide {} channels; got {}", layer, channels,
          groups);
  add_norm(builder, layer, {.epsilon = epsilon, .groups = groups});
}

void InstanceNorm::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  require(builder.shape().rank() > 2,
          "[instance_norm '{}'] expected images (N, H, W, C) or sequences (N, T, C); got {}", layer,
          to_string(builder.shape()));
  add_norm(builder, layer, {.epsilon = epsilon, .groups = builder.shape()[-1]});
}

void register_group_norm(LayerTypes& types) {
  types.add({.kind = "group_norm",
             .name = "GroupNorm",
             .in = "(N, ..., C)",
             .out = "(N, ..., C)",
             .fields = {field<&GroupNorm::groups>("groups").at_least(1),
                        field<&GroupNorm::epsilon>("epsilon").above(0)}},
            GroupNorm{.groups = 4});
  types.add({.kind = "instance_norm",
             .name = "InstanceNorm",
             .in = "(N, ..., C)",
             .out = "(N, ..., C)",
             .fields = {field<&InstanceNorm::epsilon>("epsilon").above(0)}},
            InstanceNorm{.epsilon = 1e-6});
}

}  // namespace linnet
