// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/positional_embedding.h>

#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "nn/layers/sequences.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet {

void PositionalEmbedding::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Shape x = builder.shape();
  require_sequences("positional_embedding", layer, x);
  const Value w = builder.weight(layer, "weight", {x[1], x[2]}, weight_init, x[1], x[2]);
  builder.set_current(
      builder.graph().emit(ArithmeticOp({Arithmetic::add}), {builder.current(), w}, layer));
}

void register_positional_embedding(LayerTypes& types) {
  types.add({.kind = "positional_embedding",
             .name = "PositionalEmbedding",
             .in = "(N, T, features)",
             .out = "(N, T, features)",
             .fields = {field<&PositionalEmbedding::weight_init>("weight_init")}},
            PositionalEmbedding{.weight_init = {Initializer::Kind::normal, 1}});
}

}  // namespace linnet
