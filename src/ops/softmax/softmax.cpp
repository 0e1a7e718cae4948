// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/softmax.h"

#include <algorithm>
#include <cmath>

#include "graph/registry.h"
#include "ops/reduce/reduce.h"
#include "ops/unary/terms.h"

namespace linnet {
namespace {

std::vector<ValueType> infer_rows(std::span<const ValueType> inputs) {
  using In = SoftmaxOp::In;
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              inputs[In::x].shape.rank() >= 1 && inputs[In::x].shape[-1] >= 1,
          "expected an f32 operand with a last axis of at least 1; got {}",
          to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::x]};
}

std::vector<ValueType> infer_gradient(std::span<const ValueType> inputs) {
  using In = SoftmaxGradOp::In;
  require(inputs.size() == 2 && inputs[In::dy] == inputs[In::y] && inputs[In::dy].shape.rank() >= 1,
          "expected two operands of one type; got {}",
          to_string({"dy", "y"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {inputs[In::dy]};
}

/// Calls f(first element, past the last) for every row.
template <class F>
void for_rows(const Shape& shape, F f) {
  const std::int64_t columns = shape[-1];
  for (std::int64_t i = 0; i < shape.elements(); i += columns) f(i, i + columns);
}

/// Sums of the last axis, which stays, of dimension 1.
Value row_sums(Graph& graph, Value x, const std::string& name) {
  const auto last = static_cast<std::int64_t>(graph.shape(x).rank()) - 1;
  return graph.emit(ReduceOp({.kind = Reduction::sum, .axes = {last}, .keep_dims = true}), {x},
                    name);
}

double log_sum_exp(const ReferenceTensor& x, std::int64_t begin, std::int64_t end) {
  const double top = *std::max_element(x.data.begin() + begin, x.data.begin() + end);
  double sum = 0;
  for (std::int64_t i = begin; i < end; ++i) sum += std::exp(x[i] - top);
  return top + std::log(sum);
}

}  // namespace

std::vector<ValueType> SoftmaxOp::infer(std::span<const ValueType> inputs) const {
  return infer_rows(inputs);
}

std::vector<Value> SoftmaxOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(SoftmaxGradOp(),
                          {args.output_gradients[Out::y], args.node.outputs[Out::y]},
                          args.node.name)};
}

void SoftmaxOp::reference(const ReferenceArgs& args) const {
  for_rows(args.in(In::x).shape, [&](std::int64_t begin, std::int64_t end) {
    const double total = log_sum_exp(args.in(In::x), begin, end);
    for (std::int64_t i = begin; i < end; ++i)
      args.out(Out::y)[i] = std::exp(args.in(In::x)[i] - total);
  });
}

std::vector<ValueType> SoftmaxGradOp::infer(std::span<const ValueType> inputs) const {
  return infer_gradient(inputs);
}

std::vector<Value> SoftmaxGradOp::gradient(const GradientArgs& args) const {
  const Terms terms(args.graph, args.node.name);
  const Value dy = args.node.inputs[In::dy];
  const Value y = args.node.inputs[In::y];
  const Value g = args.output_gradients[Out::dx];
  std::vector<Value> gradients(2);
  if (args.needed[In::dy]) {
    gradients[In::dy] = args.graph.emit(SoftmaxGradOp(), {g, y}, args.node.name);
  }
  if (args.needed[In::y]) {  // g (dy - sum(dy y)) - dy sum(g y)
    const auto dot = [&](Value a) {
      return row_sums(args.graph, terms.product(a, y), args.node.name);
    };
    gradients[In::y] = terms.difference(terms.product(g, terms.difference(dy, dot(dy))),
                                        terms.product(dy, dot(g)));
  }
  return gradients;
}

void SoftmaxGradOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& dy = args.in(In::dy);
  const ReferenceTensor& y = args.in(In::y);
  for_rows(dy.shape, [&](std::int64_t begin, std::int64_t end) {
    double dot = 0;
    for (std::int64_t i = begin; i < end; ++i) dot += dy[i] * y[i];
    for (std::int64_t i = begin; i < end; ++i) args.out(Out::dx)[i] = y[i] * (dy[i] - dot);
  });
}

std::vector<ValueType> LogSoftmaxOp::infer(std::span<const ValueType> inputs) const {
  return infer_rows(inputs);
}

std::vector<Value> LogSoftmaxOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(LogSoftmaxGradOp(),
                          {args.output_gradients[Out::y], args.node.outputs[Out::y]},
                          args.node.name)};
}

void LogSoftmaxOp::reference(const ReferenceArgs& args) const {
  for_rows(args.in(In::x).shape, [&](std::int64_t begin, std::int64_t end) {
    const double total = log_sum_exp(args.in(In::x), begin, end);
    for (std::int64_t i = begin; i < end; ++i) args.out(Out::y)[i] = args.in(In::x)[i] - total;
  });
}

std::vector<ValueType> LogSoftmaxGradOp::infer(std::span<const ValueType> inputs) const {
  return infer_gradient(inputs);
}

std::vector<Value> LogSoftmaxGradOp::gradient(const GradientArgs& args) const {
  const Terms terms(args.graph, args.node.name);
  const Value g = args.output_gradients[Out::dx];
  const Value weighted = terms.product(g, terms.exp(args.node.inputs[In::y]));
  std::vector<Value> gradients(2);
  if (args.needed[In::dy]) {
    gradients[In::dy] = terms.difference(g, row_sums(args.graph, weighted, args.node.name));
  }
  if (args.needed[In::y]) {
    const Value sums = row_sums(args.graph, args.node.inputs[In::dy], args.node.name);
    gradients[In::y] = terms.scaled(terms.product(weighted, sums), -1);
  }
  return gradients;
}

void LogSoftmaxGradOp::reference(const ReferenceArgs& args) const {
  const ReferenceTensor& dy = args.in(In::dy);
  const ReferenceTensor& y = args.in(In::y);
  for_rows(dy.shape, [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) sum += dy[i];
    for (std::int64_t i = begin; i < end; ++i) args.out(Out::dx)[i] = dy[i] - std::exp(y[i]) * sum;
  });
}

void register_softmax(OpRegistry& registry) {
  registry.add<SoftmaxOp>();
  registry.add<SoftmaxGradOp>();
  registry.add<LogSoftmaxOp>();
  registry.add<LogSoftmaxGradOp>();
}

}  // namespace linnet
