// SPDX-License-Identifier: Apache-2.0
#include "model/loss_weights.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "core/dims.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/element_loss/element_loss.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "ops/sequence_mask/sequence_mask.h"
#include "ops/unary/unary.h"

namespace linnet {
namespace {

constexpr const char* kName = "loss";
constexpr double kLeast = 1e-37;  // instead of a sum that is 0: its weights are, too
constexpr double kMost = 3e38;

Value reshape(Graph& graph, Value x, std::vector<std::int64_t> shape) {
  return graph.emit(ReshapeOp({.shape = std::move(shape)}), {x}, kName);
}

Value multiply(Graph& graph, Value a, Value b) {
  return graph.emit(ArithmeticOp({Arithmetic::multiply}), {a, b}, kName);
}

/// Throws Error unless the first axes of a loss's `shape` are those of its weights.
void require_axes_of(const Shape& shape, const Shape& weights) {
  require(shape.rank() >= weights.rank() &&
              std::ranges::equal(shape.dims().first(weights.rank()), weights.dims()),
          "weights {} do not fit a loss of {}; expected its first axes", to_string(weights),
          to_string(shape));
}

}  // namespace

Value shares_of(Graph& graph, Value weights, Value counts) {
  const Value counted = counts ? multiply(graph, weights, counts) : weights;
  const std::int64_t elements = graph.shape(counted).elements();
  const Value row = reshape(graph, counted, {1, elements});
  const Value sum = graph.emit(ReduceOp({.kind = Reduction::sum, .axes = {1}}), {row}, kName);
  const Value divisor =
      graph.emit(UnaryOp({.kind = Unary::clip, .alpha = kLeast, .beta = kMost}), {sum}, kName);
  return graph.emit(ArithmeticOp({Arithmetic::divide}), {weights, reshape(graph, divisor, {})},
                    kName);
}

Value times_shares(Graph& graph, Value x, Value shares) {
  const Shape shape = graph.shape(x);
  require_axes_of(shape, graph.shape(shares));
  std::vector<std::int64_t> repeated = dims_of(graph.shape(shares));
  repeated.resize(shape.rank(), 1);
  return multiply(graph, x, reshape(graph, shares, std::move(repeated)));
}

Value weighted_mean(Graph& graph, Value x, Value shares) {
  const Shape shape = graph.shape(x);
  const Shape& weighed = graph.shape(shares);
  require_axes_of(shape, weighed);
  if (shape.rank() > weighed.rank()) {
    std::vector<std::int64_t> axes(shape.rank() - weighed.rank());
    std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(weighed.rank()));
    x = graph.emit(ReduceOp({.kind = Reduction::mean, .axes = std::move(axes)}), {x}, kName);
  }
  // -(-share x), summed in f64.
  return graph.emit(ElementLossOp({.kind = ElementLoss::cross_entropy,
                                   .parameter = 0,
                                   .mean = LossMean::none,
                                   .scale = -1}),
                    {x, shares}, kName);
}

Value element_weights(Graph& graph, const Shape& shape, Value weights) {
  if (weights && graph.shape(weights) == shape) return weights;
  const Value all = graph.add_constant({DType::f32, shape}, 1);
  return weights ? times_shares(graph, all, weights) : all;
}

Value step_weights(Graph& graph, Value lengths, std::int64_t steps, Value weights) {
  const Value all = element_weights(graph, {graph.shape(lengths)[0], steps}, weights);
  return graph.emit(SequenceMaskOp(), {all, lengths}, kName);
}

}  // namespace linnet
