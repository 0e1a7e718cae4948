// SPDX-License-Identifier: Apache-2.0
#include "model/muon.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/pattern.h"
#include "core/align.h"
#include "describe/nearest.h"
#include "graph/add.h"
#include "model/update_options.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/blend/blend.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv_transpose2d/conv_transpose2d.h"
#include "ops/dense/dense.h"
#include "ops/unary/unary.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

/// Least norm that a matrix is divided by, as in PyTorch.
constexpr double kLeastNorm = 1e-7;

/// Returns whether the node takes a weight as its operand `input` that is a matrix.
bool takes_matrix(const Node& node, std::size_t input) {
  if (op_as<DenseOp>(&node) != nullptr) return input == DenseOp::In::w;
  if (const auto* conv = op_as<Conv2dOp>(&node)) {
    return input == Conv2dOp::In::w && conv->attrs().groups == 1;
  }
  if (const auto* conv = op_as<ConvTranspose2dOp>(&node)) {
    return input == ConvTranspose2dOp::In::w && conv->attrs().conv.groups == 1;
  }
  return false;
}

/// Returns whether the weight's first axis is the layer's input: a transposed convolution's.
bool is_transposed(const NetworkDefinition& network, Value weight) {
  return std::ranges::any_of(network.graph.nodes(), [&](const Node& node) {
    return op_as<ConvTranspose2dOp>(&node) != nullptr &&
           node.inputs[ConvTranspose2dOp::In::w] == weight;
  });
}

/// Returns the weight as (first axis, rest).
Shape matrix_of(const Shape& weight) { return {weight[0], weight.elements() / weight[0]}; }

/// Returns x / max(norm of x, kLeastNorm).
Value add_normalized(Graph& graph, Value x, const std::string& name) {
  const Value norm = graph.emit(GlobalNormOp(), {x}, name);
  const UnaryAttrs above{.kind = Unary::clip,
                         .alpha = kLeastNorm,
                         .beta = std::numeric_limits<float>::max()};
  const Value divisor = graph.emit(UnaryOp(above), {norm}, name);
  return graph.emit(ArithmeticOp({.kind = Arithmetic::divide}), {x, divisor}, name);
}

/// Returns a x + b y.
Value add_weighted(Graph& graph, double a, Value x, double b, Value y, const std::string& name) {
  const auto scaled = [&](double factor, Value v) {
    return factor == 1 ? v : graph.emit(ScaleOp({.alpha = factor}), {v}, name);
  };
  return graph.emit(AddOp(), {scaled(a, x), scaled(b, y)}, name);
}

/// Scales a weight to the norm sqrt(rows), unless `stopped`.
void add_weight_norm(Graph& graph, Value weight, std::int64_t rows, Value stopped,
                     const std::string& name) {
  const Value unit = add_normalized(graph, weight, name);
  const Value scaled =
      graph.emit(ScaleOp({.alpha = std::sqrt(static_cast<double>(rows))}), {unit}, name);
  const BlendAttrs replace{.kind = Blend::mix,
                           .bounds = {0, graph.shape(weight).elements()},
                           .weights = {1},
                           .guarded = true};
  graph.add(std::make_shared<BlendOp>(replace), {weight, scaled, stopped}, name);
}

}  // namespace

std::vector<bool> weight_matrices(const NetworkDefinition& network) {
  std::vector<bool> used(network.graph.value_count(), false);
  std::vector<bool> otherwise(network.graph.value_count(), false);
  for (const Node& node : network.graph.nodes()) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      auto& place = takes_matrix(node, i) ? used : otherwise;
      place[static_cast<std::size_t>(node.inputs[i].id)] = true;
    }
  }
  std::vector<bool> matrices;
  for (const ParameterSpec& spec : network.parameters) {
    const auto id = static_cast<std::size_t>(spec.value.id);
    matrices.push_back(used[id] && !otherwise[id]);
  }
  return matrices;
}

void set_matrices(OptimizerAttrs& attrs, const NetworkDefinition& network,
                  const std::vector<std::string>& exclude) {
  std::vector<bool> matrices = weight_matrices(network);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    matrices[i] = matrices[i] && range_in(attrs, network.parameters[i]);
    if (matrices[i]) names.push_back(network.parameters[i].name);
  }
  require(!names.empty(),
          "[muon] expected the weight of a dense layer or of a convolution in one group among the "
          "parameters that train; there is none: use another optimizer, such as adamw");
  for (const std::string& pattern : exclude) {
    require(std::ranges::any_of(names, [&](const auto& name) { return matches(pattern, name); }),
            "[muon] no matrix matches exclude = '{}'; the matrices are {}", pattern,
            some_of(names));
  }
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const ParameterSpec& spec = network.parameters[i];
    const bool excluded = std::ranges::any_of(exclude, [&](const std::string& pattern) {
      return matches(pattern, spec.name);
    });
    if (matrices[i] && !excluded) attrs.matrices.push_back(range_of(spec).begin);
  }
  require(!attrs.matrices.empty(),
          "[muon] expected a matrix that exclude leaves; it matches all of {}", some_of(names));
}

std::vector<bool> updated_as_matrices(const NetworkDefinition& network,
                                      const OptimizerAttrs& attrs) {
  std::vector<bool> found;
  for (const ParameterSpec& spec : network.parameters) {
    found.push_back(spec.trainable && std::ranges::count(attrs.matrices, range_of(spec).begin) > 0);
  }
  return found;
}

Value add_orthogonal(Graph& graph, Value x, std::int64_t iterations, const std::string& name) {
  const bool tall = graph.shape(x)[0] > graph.shape(x)[1];
  x = add_normalized(graph, x, name);
  for (std::int64_t i = 0; i < iterations; ++i) {
    // The smaller of both products; a, and so p, is symmetric.
    const Value a =
        tall ? graph.emit(DenseGradWeightOp(), {x, x}, name) : graph.emit(DenseOp(), {x, x}, name);
    const Value square = graph.emit(DenseOp(), {a, a}, name);
    const Value p = add_weighted(graph, -4.7750, a, 2.0315, square, name);
    const Value product = tall ? graph.emit(DenseGradInputOp(), {x, p}, name)
                               : graph.emit(DenseGradInputOp(), {p, x}, name);
    x = add_weighted(graph, 3.4445, x, 1, product, name);
  }
  return x;
}

void add_muon(Graph& graph, const NetworkDefinition& network, const OptimizerAttrs& attrs,
              const std::vector<Value>& operands, std::size_t moments) {
  const std::vector<bool> matrices = updated_as_matrices(network, attrs);
  const Value stopped = operands.back();
  const std::size_t directions = moments + align_up(network.bytes(true));
  OptimizerAttrs momentum{.settings = attrs.settings, .guarded = true};
  OptimizerAttrs others = momentum;
  others.settings.rule = UpdateRule::adamw;
  others.settings.learning_rate = attrs.settings.adam_rate;
  OptimizerAttrs step = momentum;
  step.settings.rule = UpdateRule::sgd;
  step.settings.clip_norm = step.settings.clip_value = 0;
  struct Matrix {
    const ParameterSpec* spec;
    Value weight;
    double rate_factor;
    std::int64_t rows;  ///< a row for each output of the layer
  };
  std::vector<Matrix> updated;
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const ParameterSpec& spec = network.parameters[i];
    const std::optional<UpdateRange> range = range_in(attrs, spec);
    if (!range) continue;
    (matrices[i] ? momentum : others).add(*range);
    if (!matrices[i]) continue;
    const Value weight = graph.add_value(spec.name, {DType::f32, matrix_of(spec.shape)},
                                         Storage::parameter, spec.offset);
    const Shape shape = graph.shape(weight);
    updated.push_back({&spec, weight, range->rate_factor,
                       is_transposed(network, spec.value) ? shape[1] : shape[0]});
  }
  if (attrs.settings.normalizes_weights) {
    for (const Matrix& matrix : updated) {
      add_weight_norm(graph, matrix.weight, matrix.rows, stopped, matrix.spec->name);
    }
  }
  graph.add(std::make_shared<OptimizerUpdateOp>(momentum), operands, "optimizer");
  if (!others.bounds.empty()) {
    graph.add(std::make_shared<OptimizerUpdateOp>(others), operands, "optimizer");
  }
  for (const Matrix& matrix : updated) {
    const Shape shape = graph.shape(matrix.weight);
    const Value direction = graph.add_value("direction", {DType::f32, shape}, Storage::optimizer,
                                            directions + matrix.spec->offset);
    const Value orthogonal =
        add_orthogonal(graph, direction, attrs.settings.iterations, matrix.spec->name);
    const double ratio =
        static_cast<double>(matrix.rows) / static_cast<double>(shape.elements() / matrix.rows);
    step.bounds = {0, shape.elements()};
    step.rate_factors = {matrix.rate_factor * std::sqrt(std::max(1.0, ratio))};
    step.weight_decays = {0};
    graph.add(std::make_shared<OptimizerUpdateOp>(step), {matrix.weight, orthogonal, stopped},
              matrix.spec->name);
  }
}

}  // namespace linnet
