// SPDX-License-Identifier: Apache-2.0
#include "model/custom_loss.h"

#include "base/check.h"
#include "model/loss_weights.h"
#include "nn/expression_scope.h"
#include "ops/one_hot/one_hot.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"

namespace linnet {
namespace {

constexpr const char* kName = "loss";

}  // namespace

Value add_mean(Graph& graph, Value x, const std::string& name) {
  // The graph is one batch's, so a shape may be written with it.
  const std::int64_t elements = graph.shape(x).elements();
  const Value row = graph.emit(ReshapeOp({.shape = {1, elements}}), {x}, name);
  const Value mean = graph.emit(ReduceOp({.kind = Reduction::mean, .axes = {1}}), {row}, name);
  return graph.emit(ReshapeOp({.shape = {}}), {mean}, name);
}

Value add_custom_values(Graph& graph, const CustomLoss& function, std::string_view what, Value y,
                        Value target, const LossInputs& inputs) {
  if (graph.type(target).dtype == DType::i32) {
    const Shape& outputs = graph.shape(y);
    require(outputs.rank() == graph.shape(target).rank() + 1,
            "labels {} need outputs with one more axis, of classes; the network gives {}",
            to_string(graph.shape(target)), to_string(outputs));
    target = graph.emit(OneHotOp({.classes = outputs[-1]}), {target}, kName);
  }
  const auto scope = std::make_shared<const ExpressionScope>(
      ExpressionScope{.graph = graph, .name = std::string(what), .inputs = inputs});
  const Expression result = function({scope, y.id, true}, {scope, target.id, true});
  require(result.scope() == scope && result.batched(),
          "the {} function must return an expression of its operands", what);
  return {result.value()};
}

Value add_custom_loss(Graph& graph, const CustomLoss& loss, Value y, Value target, Value weights,
                      const LossInputs& inputs) {
  const Value values = add_custom_values(graph, loss, kName, y, target, inputs);
  if (weights) return weighted_mean(graph, values, shares_of(graph, weights));
  return add_mean(graph, values, kName);
}

}  // namespace linnet
