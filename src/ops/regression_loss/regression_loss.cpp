// SPDX-License-Identifier: Apache-2.0
#include "ops/regression_loss/regression_loss.h"

#include <cmath>

#include "graph/registry.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet {

std::vector<ValueType> RegressionLossOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[In::y] == inputs[In::target] &&
              inputs[In::y].dtype == DType::f32,
          "expected outputs and targets of one shape; got {}",
          to_string({"y", "target"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, Shape{}}};
}

std::vector<Value> RegressionLossOp::gradient(const GradientArgs& args) const {
  const Value dy = args.graph.emit(RegressionLossGradOp(attrs()),
                                   {args.node.inputs[In::y], args.node.inputs[In::target],
                                    args.output_gradients[Out::loss]},
                                   args.node.name);
  Value dt;
  if (args.needed[In::target]) dt = args.graph.emit(ScaleOp({.alpha = -1}), {dy}, args.node.name);
  return {dy, dt};
}

void RegressionLossOp::reference(const ReferenceArgs& args) const {
  const std::size_t n = args.in(In::y).data.size();
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double d = args.in(In::y).data[i] - args.in(In::target).data[i];
    sum += attrs().kind == RegressionLoss::mse ? d * d : std::abs(d);
  }
  args.out(Out::loss)[0] = n > 0 ? sum / static_cast<double>(n) : 0;
}

std::vector<ValueType> RegressionLossGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 3 && inputs[In::y] == inputs[In::target] &&
              inputs[In::dloss] == ValueType{DType::f32, Shape{}},
          "expected outputs, targets and dloss (); got {}",
          to_string({"y", "target", "dloss"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {inputs[In::y]};
}

void RegressionLossGradOp::reference(const ReferenceArgs& args) const {
  const std::size_t n = args.in(In::y).data.size();
  const double factor = args.in(In::dloss)[0] / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double d = args.in(In::y).data[i] - args.in(In::target).data[i];
    const double sign = d > 0 ? 1 : d < 0 ? -1 : d;
    args.out(Out::dy).data[i] = factor * (attrs().kind == RegressionLoss::mse ? 2 * d : sign);
  }
}

void register_regression_loss(OpRegistry& registry) {
  registry.add<RegressionLossOp>();
  registry.add<RegressionLossGradOp>();
}

}  // namespace linnet
