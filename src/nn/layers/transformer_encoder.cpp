// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layers/dense.h"
#include "nn/layers/sequences.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet {

void TransformerEncoder::build(NetworkBuilder& builder) const {
  const std::string layer = builder.layer_name(name, "transformer_encoder");
  const Shape x = builder.shape();
  require_sequences("transformer_encoder", layer, x);
  builder.heed_lengths();
  require(feed_forward > 0, "[transformer_encoder '{}'] expected at least one unit; got {}", layer,
          feed_forward);
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
  // On rows, so that bias and activation stand behind the product and fuse with it.
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

}  // namespace linnet
