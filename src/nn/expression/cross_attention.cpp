// SPDX-License-Identifier: Apache-2.0
#include <linnet/cross_attention.h>

#include <array>
#include <cmath>

#include "nn/expression/attention.h"
#include "nn/expression/support.h"
#include "nn/layers/sequences.h"
#include "ops/causal_mask/causal_mask.h"
#include "ops/sequence_mask/sequence_mask.h"

namespace linnet {
namespace {

constexpr std::string_view kKind = "cross_attention";

/// The layer that query | stands before.
struct CrossAttention {
  Expression memory;
  CrossAttentionOptions options;

  void build(NetworkBuilder& builder) const {
    const std::string layer = builder.layer_name(options.name, kKind);
    const Value query_value = builder.current();
    const Shape query = builder.shape();  // (N, T, features)
    const Shape& context = whole_shape(memory);
    require_sequences(kKind, layer, query);
    require(memory.batched(), "[{} '{}'] expected a memory with a batch; got weights", kKind,
            layer);
    require_sequences(kKind, layer, context);
    const std::int64_t heads = options.heads;
    const std::int64_t features = query[2];
    require(heads >= 1 && features % heads == 0,
            "[{} '{}'] expected heads that divide {} features; got {}", kKind, layer, features,
            heads);
    require(options.dropout >= 0 && options.dropout < 1,
            "[{} '{}'] expected a dropout in [0, 1); got {}", kKind, layer, options.dropout);
    builder.set_current({memory.value()});
    const Value lengths = builder.lengths();
    builder.set_current(query_value);
    builder.heed_lengths();

    const auto scope =
        std::make_shared<const ExpressionScope>(ExpressionScope{builder.graph(), &builder, layer});
    const auto weight = [&](const std::string& of, std::string_view role, const Shape& shape,
                            const Initializer& init, std::int64_t fan_out) {
      const std::int64_t fan_in = shape.rank() == 2 ? shape[1] : features;
      return Expression(scope, builder.weight(of, role, shape, init, fan_in, fan_out).id, false);
    };
    const std::vector<std::int64_t> parts(3, features);
    std::vector<Expression> weights;  // of query, key and value
    if (context[2] == features) {
      const Expression all =
          weight(layer, "in_proj_weight", {3 * features, features}, {}, 3 * features);
      weights = split(all, parts, 0);
    } else {
      const std::array<const char*, 3> roles{"q_proj_weight", "k_proj_weight", "v_proj_weight"};
      for (std::size_t i = 0; i < roles.size(); ++i) {
        const Shape shape{features, i == 0 ? features : context[2]};
        weights.push_back(weight(layer, roles.at(i), shape, {}, features));
      }
    }
    const std::vector<Expression> biases =
        split(weight(layer, "in_proj_bias", {3 * features}, kZeros, 3 * features), parts, 0);
    const Expression x(scope, query_value.id, true);
    const Expression from(scope, memory.value(), true);
    const auto projected = [&](std::size_t i) {
      return linear(i == 0 ? x : from, weights[i]) + biases[i];
    };
    const auto weigh = [&](const Expression& scores) {
      Expression seen = scores;  // (heads, T, S)
      if (lengths) {
        seen = emit(SequenceMaskOp({.axis = 3, .fill = CausalMaskAttrs{}.fill}),
                    {seen, Expression(scope, lengths.id, true)});
      }
      seen = softmax(seen);
      return options.dropout > 0 ? linnet::dropout(seen, options.dropout) : seen;
    };
    const Expression heard = attend(projected(0), projected(1), projected(2), heads, weigh);
    const Initializer init{Initializer::Kind::uniform,
                           1 / std::sqrt(static_cast<double>(features))};
    const std::string out = layer + ".out_proj";
    const Expression out_weight = weight(out, "weight", {features, features}, init, features);
    const Expression out_bias = weight(out, "bias", {features}, kZeros, features);
    const Expression y = linear(heard, out_weight) + out_bias;
    builder.set_current({y.value()});
  }
};

}  // namespace

Expression cross_attention(const Expression& query, const Expression& memory,
                           const CrossAttentionOptions& options) {
  require(&query.scope()->graph == &memory.scope()->graph,
          "[{}] expected operands of one network; got operands of two", kKind);
  return query | Layer(CrossAttention{memory, options});
}

}  // namespace linnet
