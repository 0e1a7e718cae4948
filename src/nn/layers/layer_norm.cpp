// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/layer_norm.h>

#include "base/check.h"
#include "nn/layer_fields.h"
#include "nn/layers/norm.h"

namespace linnet {

void LayerNorm::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const auto rank = static_cast<std::int64_t>(builder.shape().rank());
  require(axes < rank, "[layer_norm '{}'] expected 1 to {} axes of {}; got {}", layer, rank - 1,
          to_string(builder.shape()), axes);
  add_norm(builder, layer, {.epsilon = epsilon, .rows = rank - axes, .channels = axes});
}

void register_layer_norm(LayerTypes& types) {
  types.add({.kind = "layer_norm",
             .name = "LayerNorm",
             .in = "(N, ...)",
             .out = "(N, ...)",
             .fields = {field<&LayerNorm::epsilon>("epsilon").above(0),
                        field<&LayerNorm::axes>("axes").at_least(1)}},
            LayerNorm{.epsilon = 1e-6});
}

}  // namespace linnet
