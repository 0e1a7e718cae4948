// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "nn/builder.h"
#include "ops/gather/gather.h"

namespace linnet {

void Embedding::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "embedding");
  require(vocabulary > 0 && features > 0,
          "[embedding '{}'] expected at least one row and one feature; got {} and {}", layer,
          vocabulary, features);
  const ValueType& ids = builder.graph().type(builder.current());
  require(ids.dtype == DType::i32,
          "[embedding '{}'] expected ids (N, ...) of i32; got {} {}: it comes first in a network "
          "whose input is i32",
          layer, to_string(ids.dtype), to_string(ids.shape));
  const Value table =
      builder.weight(layer, "weight", {vocabulary, features}, weight_init, vocabulary, features);
  builder.set_current(builder.graph().emit(GatherOp(), {table, builder.current()}, layer));
}

void Lengths::build(NetworkBuilder& builder) const { builder.add_lengths(); }

}  // namespace linnet
