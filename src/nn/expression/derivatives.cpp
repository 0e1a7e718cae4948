// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include "describe/nearest.h"
#include "graph/differentiate.h"
#include "nn/expression/support.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/ops.h"

namespace linnet {
namespace {

void check_operand(std::string_view function, const char* what, const Expression& y,
                   const Expression& x) {
  require(&x.scope()->graph == &y.scope()->graph,
          "[{}] expected values of one network; got {} of another", called(function, y), what);
  require(x.batched() && x.dtype() == DType::f32,
          "[{}] expected {} as f32 with a batch; got {} {}{}", called(function, y), what,
          to_string(x.dtype()), to_string(x.shape()), x.batched() ? "" : " of weights alone");
}

/// What a derivative is by something that y does not depend on.
enum class Missing : std::uint8_t { is_refused, is_zero };

/// Returns the gradients of the sum of y times `weights` (of y's shape) by each of x.
std::vector<Expression> gradients(std::string_view function, const Expression& y,
                                  const Expression& weights, const std::vector<Expression>& x,
                                  Missing missing = Missing::is_refused) {
  const ExpressionScope& scope = *y.scope();
  Graph& graph = scope.graph;
  std::vector<Value> wrt;
  for (const Expression& one : x) {
    check_operand(function, "x", y, one);
    wrt.push_back({one.value()});
  }
  const Value of{y.value()};
  const Value times{weights.value()};
  const std::size_t before = graph.nodes().size();
  const auto differentiated = [&] {
    return differentiate(graph, std::span(&of, 1), std::span(&times, 1), wrt);
  };
  const std::vector<Value> found =
      scope.builder != nullptr ? with_batch_named(differentiated) : differentiated();
  for (std::size_t n = before; scope.builder != nullptr && n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    require(node.op->name().find('.') != std::string_view::npos ||
                all_ops().is_of_networks(node.op->name()),
            "[{}] the layer '{}' has no derivative that a network may hold: its gradient is '{}'",
            called(function, y), node.name, node.op->name());
  }
  if (scope.builder != nullptr) scope.builder->settle_lengths();
  std::vector<Expression> gradients;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i] && missing == Missing::is_zero) {
      gradients.push_back(emit(ScaleOp({.alpha = 0}), {x[i]}));
      continue;
    }
    require(static_cast<bool>(found[i]), "[{}] y {} does not depend on x {}", called(function, y),
            to_string(y.shape()), to_string(x[i].shape()));
    gradients.emplace_back(y.scope(), found[i].id, true);
  }
  return gradients;
}

/// Ones for each element of y.
Expression ones(std::string_view function, const Expression& y) {
  check_operand(function, "y", y, y);
  return emit(ScaleOp({.alpha = 0, .beta = 1}), {y});
}

}  // namespace

std::vector<Expression> gradient(const Expression& y, const std::vector<Expression>& x) {
  require(!x.empty(), "[gradient] expected at least one x; got none");
  return gradients("gradient", y, ones("gradient", y), x);
}

Expression gradient(const Expression& y, const Expression& x) {
  return gradient(y, std::vector{x}).front();
}

Expression jacobian(const Expression& y, const Expression& x) {
  const Expression flat = reshaped(y, Shape{y.shape().elements()});
  std::vector<Expression> rows;
  for (std::int64_t i = 0; i < flat.shape()[0]; ++i) {
    const Expression one = slice(flat, 0, i, i + 1);
    rows.push_back(gradients("jacobian", one, ones("jacobian", one), {x}).front());
  }
  std::vector<std::int64_t> dims = dims_of(y.shape());
  for (const std::int64_t dim : x.shape().dims()) dims.push_back(dim);
  return reshaped(stack(rows, 0), Shape(dims));
}

Expression hessian_vector(const Expression& y, const Expression& x, const Expression& v) {
  check_operand("hessian_vector", "v", y, v);
  require(v.shape() == x.shape(), "[{}] expected v of x's shape {}; got {}",
          called("hessian_vector", y), to_string(x.shape()), to_string(v.shape()));
  const Expression slope = gradients("hessian_vector", y, ones("hessian_vector", y), {x}).front();
  return gradients("hessian_vector", slope, v, {x}).front();
}

Expression hessian(const Expression& y, const Expression& x) {
  const auto element = [](const Expression& of, std::int64_t i) {
    return slice(reshaped(of, Shape{of.shape().elements()}), 0, i, i + 1);
  };
  const auto by_x = [&](const Expression& one) {
    return gradients("hessian", one, ones("hessian", one), {x}, Missing::is_zero).front();
  };
  std::vector<Expression> rows;
  for (std::int64_t i = 0; i < y.shape().elements(); ++i) {
    const Expression slope = by_x(element(y, i));
    for (std::int64_t j = 0; j < x.shape().elements(); ++j) {
      rows.push_back(by_x(element(slope, j)));
    }
  }
  std::vector<std::int64_t> dims = dims_of(y.shape());
  for (int twice = 0; twice < 2; ++twice) {
    for (const std::int64_t dim : x.shape().dims()) dims.push_back(dim);
  }
  return reshaped(stack(rows, 0), Shape(dims));
}

Expression network_input(const Expression& y, std::string_view name) {
  const auto& inputs = y.scope()->inputs;
  require(!inputs.empty(),
          "[network_input] expected the output that a loss gets; outside of a "
          "loss FunctionalNetwork::input() returns the input");
  std::vector<std::string> names;
  for (const auto& [known, value] : inputs) {
    if (name.empty() || known == name) return {y.scope(), value.id, true};
    names.push_back(known);
  }
  fail("[network_input] the network has no input '{}'; it has {}", name, some_of(names));
}

}  // namespace linnet
