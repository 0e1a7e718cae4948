// SPDX-License-Identifier: Apache-2.0
#include "ops/arc/arc.h"

#include <cmath>

#include "graph/registry.h"
#include "ops/unary/terms.h"

namespace linnet {
namespace {

double arc_of(Arc kind, double x) {
  switch (kind) {
    case Arc::asin: return std::asin(x);
    case Arc::acos: return std::acos(x);
    case Arc::atan: return std::atan(x);
    case Arc::asinh: return std::asinh(x);
    case Arc::acosh: return std::acosh(x);
    case Arc::atanh: return std::atanh(x);
  }
  return x;
}

}  // namespace

std::vector<ValueType> ArcOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32,
          "expected one f32 operand; got {}", to_string({"x"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::x]};
}

std::vector<Value> ArcOp::gradient(const GradientArgs& args) const {
  const Terms terms(args.graph, args.node.name);
  const Value x = args.node.inputs[In::x];
  const Value dy = args.output_gradients[Out::y];
  // As products: x² - 1 would lose the digits near 1.
  const auto one_less_square = [&] {
    return terms.product(terms.scaled(x, -1, 1), terms.scaled(x, 1, 1));
  };
  const auto one_and_square = [&] { return terms.scaled(terms.square(x), 1, 1); };
  const auto over_root = [&](Value of) {
    return terms.product(dy, terms.unary({.kind = Unary::rsqrt}, of));
  };
  const auto over = [&](Value of) {
    return terms.product(dy, terms.unary({.kind = Unary::reciprocal}, of));
  };
  switch (attrs().kind) {
    case Arc::asin: return {over_root(one_less_square())};
    case Arc::acos: return {terms.scaled(over_root(one_less_square()), -1)};
    case Arc::atan: return {over(one_and_square())};
    case Arc::asinh: return {over_root(one_and_square())};
    case Arc::acosh: return {over_root(terms.scaled(one_less_square(), -1))};
    case Arc::atanh: return {over(one_less_square())};
  }
  return {Value{}};
}

void ArcOp::reference(const ReferenceArgs& args) const {
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    args.out(Out::y)[i] = arc_of(attrs().kind, args.in(In::x)[i]);
  }
}

void register_arc(OpRegistry& registry) { registry.add<ArcOp>(); }

}  // namespace linnet
