// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "core/dims.h"
#include "nn/builder.h"
#include "ops/reshape/reshape.h"

namespace linnet {

void Flatten::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "flatten");
  builder.set_current(flatten(builder.graph(), builder.current(), layer));
}

void Reshape::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "reshape");
  const Shape given = builder.shape().sample();
  require(sample.elements() == given.elements() && sample.elements() > 0,
          "[reshape '{}'] expected a shape of {} elements for samples of {}; got {}", layer,
          given.elements(), to_string(given), to_string(sample));
  builder.apply(ReshapeOp({.shape = dims_of(sample.batched(-1))}), layer);
}

}  // namespace linnet
