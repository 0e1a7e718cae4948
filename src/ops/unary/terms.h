// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "graph/graph.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/unary/unary.h"

namespace linnet {

/// Writes a formula into a graph as nodes, each of which has a gradient: for gradients of
/// gradients.
class Terms {
 public:
  Terms(Graph& graph, const std::string& name) : graph_(graph), name_(name) {}

  Value product(Value a, Value b) const { return arithmetic(Arithmetic::multiply, a, b); }
  Value sum(Value a, Value b) const { return arithmetic(Arithmetic::add, a, b); }
  Value difference(Value a, Value b) const { return arithmetic(Arithmetic::subtract, a, b); }
  /// alpha x + beta
  Value scaled(Value x, double alpha, double beta = 0) const {
    return graph_.emit(ScaleOp({.alpha = alpha, .beta = beta}), {x}, name_);
  }
  Value square(Value x) const { return unary({.kind = Unary::square}, x); }
  Value exp(Value x) const { return unary({.kind = Unary::exp}, x); }
  Value logistic(Value x) const {
    return graph_.emit(ActivationOp({Activation::sigmoid}), {x}, name_);
  }
  Value unary(const UnaryAttrs& attrs, Value x) const {
    return graph_.emit(UnaryOp(attrs), {x}, name_);
  }
  /// dy f'(x), or of y where slope_from_output().
  Value slope(const UnaryAttrs& attrs, Value dy, Value saved) const {
    return graph_.emit(UnaryGradOp(attrs), {dy, saved}, name_);
  }

 private:
  Value arithmetic(Arithmetic kind, Value a, Value b) const {
    return graph_.emit(ArithmeticOp({kind}), {a, b}, name_);
  }

  Graph& graph_;
  const std::string& name_;
};

}  // namespace linnet
