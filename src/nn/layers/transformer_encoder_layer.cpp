// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/dense.h>
#include <linnet/layers/dropout.h>
#include <linnet/layers/layer_norm.h>
#include <linnet/layers/multi_head_attention.h>
#include <linnet/layers/transformer_encoder_layer.h>

#include <vector>

#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "nn/layers/dense.h"
#include "nn/layers/sequences.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet {

void TransformerEncoderLayer::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Shape x = builder.shape();
  require_sequences("transformer_encoder_layer", layer, x);
  builder.heed_lengths();
  const auto build_part = [&](const std::vector<Layer>& layers) {
    builder.build_within(layer, layers);
  };
  const auto norm = [&](const char* which) {
    build_part({LayerNorm{.epsilon = epsilon, .name = which}});
  };
  const auto dropped = [&] {
    if (dropout > 0) build_part({Dropout{.rate = dropout}});
  };
  const auto add_to = [&](Value beside) {
    builder.set_current(
        builder.graph().emit(ArithmeticOp({Arithmetic::add}), {beside, builder.current()}, layer));
  };

  Value before = builder.current();
  if (norm_first) norm("norm1");
  build_part({MultiHeadAttention{
      .heads = heads, .causal = causal, .dropout = dropout, .name = "self_attn"}});
  dropped();
  add_to(before);
  if (!norm_first) norm("norm1");

  before = builder.current();
  if (norm_first) norm("norm2");
  // On rows, so that bias and activation stand after the product and fuse with it.
  Graph& graph = builder.graph();
  builder.set_current(as_rows(graph, builder.current(), layer));
  build_part({Dense{.units = feed_forward, .name = "linear1"}, activation});
  dropped();
  build_part({Dense{.units = x[2], .name = "linear2"}});
  builder.set_current(from_rows(graph, builder.current(), x, layer));
  dropped();
  add_to(before);
  if (!norm_first) norm("norm2");
}

void register_transformer_encoder_layer(LayerTypes& types) {
  types.add({.kind = "transformer_encoder_layer",
             .name = "TransformerEncoderLayer",
             .in = "(N, T, features)",
             .out = "(N, T, features)",
             .fields = {field<&TransformerEncoderLayer::heads>("heads").at_least(1),
                        field<&TransformerEncoderLayer::feed_forward>("feed_forward").at_least(1),
                        field<&TransformerEncoderLayer::dropout>("dropout").from_to_below(0, 1),
                        field<&TransformerEncoderLayer::activation>("activation"),
                        field<&TransformerEncoderLayer::norm_first>("norm_first"),
                        field<&TransformerEncoderLayer::causal>("causal"),
                        field<&TransformerEncoderLayer::epsilon>("epsilon").above(0)},
             .old_kind = "transformer_encoder"},
            TransformerEncoderLayer{
                .heads = 8, .feed_forward = 512, .activation = GELU{}, .norm_first = true});
}

}  // namespace linnet
