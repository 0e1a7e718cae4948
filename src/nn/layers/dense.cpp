// SPDX-License-Identifier: Apache-2.0
#include "nn/layers/dense.h"

#include <linnet/layers/dense.h>

#include "base/check.h"
#include "core/dims.h"
#include "nn/layer_fields.h"
#include "ops/bias_add/bias_add.h"
#include "ops/dense/dense.h"
#include "ops/reshape/reshape.h"

namespace linnet {

Value as_rows(Graph& graph, Value x, const std::string& layer) {
  const Shape& shape = graph.shape(x);
  if (shape.rank() == 2) return x;
  return graph.emit(ReshapeOp({.shape = {-1, shape[-1]}}), {x}, layer);
}

Value from_rows(Graph& graph, Value rows, const Shape& shape, const std::string& layer) {
  if (shape.rank() == 2) return rows;
  std::vector<std::int64_t> dims = dims_of(shape);
  dims.front() = -1;
  dims.back() = graph.shape(rows)[-1];
  return graph.emit(ReshapeOp({.shape = std::move(dims)}), {rows}, layer);
}

Value dense_rows(Graph& graph, Value rows, Value weight, Value bias, const std::string& layer) {
  const Value y = graph.emit(DenseOp(), {rows, weight}, layer);
  return !bias ? y : graph.emit(BiasAddOp(), {y, bias}, layer);
}

void Dense::build(NetworkBuilder& builder) const {
  const std::string layer = builder.begin(*this);
  const Shape x = builder.shape();
  require(x.rank() >= 2, "[dense '{}'] expected (N, ..., features); got {}", layer, to_string(x));
  if (x.rank() > 2) builder.heed_lengths();  // each step or pixel alone, as a row
  const std::int64_t features = x[-1];
  const Value w = builder.weight(layer, "weight", {units, features}, weight_init, features, units);
  const Value b =
      bias ? builder.weight(layer, "bias", {units}, bias_init, features, units) : Value{};
  Graph& graph = builder.graph();
  const Value rows = as_rows(graph, builder.current(), layer);
  builder.set_current(from_rows(graph, dense_rows(graph, rows, w, b, layer), x, layer));
}

void register_dense(LayerTypes& types) {
  types.add({.kind = "dense",
             .name = "Dense",
             .in = "(N, ..., features)",
             .out = "(N, ..., units)",
             .fields = {field<&Dense::units>("units").at_least(1).required(),
                        field<&Dense::bias>("bias"), field<&Dense::weight_init>("weight_init"),
                        field<&Dense::bias_init>("bias_init")}},
            Dense{.units = 10});
}

}  // namespace linnet
