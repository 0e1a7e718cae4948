// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/embedding.h>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "ops/gather/gather.h"

namespace linnet {

void Embedding::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const ValueType& ids = builder.graph().type(builder.current());
  require(ids.dtype == DType::i32,
          "[embedding '{}'] expected ids (N, ...) of i32; got {} {}: put it first in a network "
          "whose input is i32",
          layer, to_string(ids.dtype), to_string(ids.shape));
  const Value table =
      builder.weight(layer, "weight", {vocabulary, features}, weight_init, vocabulary, features);
  builder.set_current(builder.graph().emit(GatherOp(), {table, builder.current()}, layer));
}

void register_embedding(LayerTypes& types) {
  types.add({.kind = "embedding",
             .name = "Embedding",
             .in = "(N, ...) of i32",
             .out = "(N, ..., features)",
             .fields = {field<&Embedding::vocabulary>("vocabulary").at_least(1).required(),
                        field<&Embedding::features>("features").at_least(1).required(),
                        field<&Embedding::weight_init>("weight_init")}},
            Embedding{.vocabulary = 10000, .features = 64});
}

}  // namespace linnet
