// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers/dropout.h>
#include <linnet/layers/multi_head_attention.h>

#include <cmath>
#include <vector>

#include "base/check.h"
#include "nn/builder.h"
#include "nn/layer_fields.h"
#include "nn/layers/dense.h"
#include "nn/layers/sequences.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/causal_mask/causal_mask.h"
#include "ops/matmul/matmul.h"
#include "ops/reshape/reshape.h"
#include "ops/sequence_mask/sequence_mask.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"
#include "ops/transpose/transpose.h"

namespace linnet {
namespace {

/// Returns one of query, key and value as (N, heads, T, size), out of all three (N, 3, heads, T,
/// size).
Value part_of(Graph& graph, Value all, std::int64_t index, const std::string& layer) {
  const Shape shape = graph.shape(all);
  const Value part =
      graph.emit(SliceOp({.axis = 1, .begin = index, .end = index + 1}), {all}, layer);
  return graph.emit(ReshapeOp({.shape = {-1, shape[2], shape[3], shape[4]}}), {part}, layer);
}

}  // namespace

void MultiHeadAttention::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Shape x = builder.shape();  // (N, T, F)
  require_sequences("multi_head_attention", layer, x);
  const Value lengths = builder.heed_lengths();
  const std::int64_t steps = x[1];
  const std::int64_t features = x[2];
  require(features % heads == 0,
          "[multi_head_attention '{}'] expected heads that divide {} features; got {}", layer,
          features, heads);
  const std::int64_t size = features / heads;
  Graph& graph = builder.graph();

  const Value in_weight =
      builder.weight(layer, "in_proj_weight", {3 * features, features}, {}, features, 3 * features);
  const Value in_bias =
      builder.weight(layer, "in_proj_bias", {3 * features}, kZeros, features, 3 * features);
  const Value rows = as_rows(graph, builder.current(), layer);
  const Value projected = dense_rows(graph, rows, in_weight, in_bias, layer);
  const Value by_head =
      graph.emit(ReshapeOp({.shape = {-1, steps, 3, heads, size}}), {projected}, layer);
  const Value all = graph.emit(TransposeOp({.permutation = {0, 2, 3, 1, 4}}), {by_head}, layer);
  const Value query = graph.emit(ScaleOp({.alpha = 1 / std::sqrt(static_cast<double>(size))}),
                                 {part_of(graph, all, 0, layer)}, layer);
  const Value key = part_of(graph, all, 1, layer);
  const Value value = part_of(graph, all, 2, layer);

  Value scores = graph.emit(MatmulOp({.transpose_b = true}), {query, key}, layer);  // (N, h, T, T)
  if (causal) scores = graph.emit(CausalMaskOp(), {scores}, layer);
  if (lengths) {
    scores = graph.emit(SequenceMaskOp({.axis = 3, .fill = CausalMaskAttrs{}.fill}),
                        {scores, lengths}, layer);
  }
  builder.set_current(graph.emit(SoftmaxOp(), {scores}, layer));
  if (dropout > 0) builder.build_within(layer, std::vector<Layer>{Dropout{.rate = dropout}});
  const Value heard =
      graph.emit(MatmulOp(), {builder.current(), value}, layer);  // (N, heads, T, size)
  const Value together = graph.emit(TransposeOp({.permutation = {0, 2, 1, 3}}), {heard}, layer);

  const Initializer init{Initializer::Kind::uniform, 1 / std::sqrt(static_cast<double>(features))};
  const std::string out = layer + ".out_proj";
  const Value out_weight =
      builder.weight(out, "weight", {features, features}, init, features, features);
  const Value out_bias = builder.weight(out, "bias", {features}, kZeros, features, features);
  const Value out_rows = graph.emit(ReshapeOp({.shape = {-1, features}}), {together}, layer);
  const Value y = dense_rows(graph, out_rows, out_weight, out_bias, out);
  builder.set_current(from_rows(graph, y, x, layer));
}

void register_multi_head_attention(LayerTypes& types) {
  types.add({.kind = "multi_head_attention",
             .name = "MultiHeadAttention",
             .in = "(N, T, features)",
             .out = "(N, T, features)",
             .fields = {field<&MultiHeadAttention::heads>("heads").at_least(1),
                        field<&MultiHeadAttention::causal>("causal"),
                        field<&MultiHeadAttention::dropout>("dropout").from_to_below(0, 1)}},
            MultiHeadAttention{.heads = 8, .causal = true});
}

}  // namespace linnet
