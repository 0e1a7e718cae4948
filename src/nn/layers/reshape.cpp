// SPDX-License-Identifier: Apache-2.0
#include "ops/reshape/reshape.h"

#include <linnet/layers/reshape.h>

#include "base/check.h"
#include "core/dims.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"

namespace linnet {

void Flatten::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  builder.set_current(flatten(builder.graph(), builder.current(), layer));
}

void Reshape::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Shape given = builder.shape().sample();
  require(sample.elements() == given.elements() && sample.elements() > 0,
          "[reshape '{}'] expected a shape of {} elements for samples of {}; got {}", layer,
          given.elements(), to_string(given), to_string(sample));
  builder.apply(ReshapeOp({.shape = dims_of(sample.batched(-1))}), layer);
}

void register_reshape(LayerTypes& types) {
  types.add({.kind = "flatten",
             .name = "Flatten",
             .in = "(N, ...)",
             .out = "(N, features)",
             .fields = {}},
            Flatten{});
  types.add({.kind = "reshape",
             .name = "Reshape",
             .in = "(N, ...)",
             .out = "(N, sample...)",
             .fields = {field<&Reshape::sample>("sample").at_least(1).required()}},
            Reshape{.sample = {7, 7, 16}});
}

}  // namespace linnet
