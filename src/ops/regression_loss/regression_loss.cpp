// SPDX-License-Identifier: Apache-2.0
#include "ops/regression_loss/regression_loss.h"

#include <cmath>

#include "graph/registry.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet {

std::vector<ValueType> RegressionLossOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[0] == inputs[1] && inputs[0].dtype == DType::f32,
          "expected outputs and targets of one shape; got {}",
          to_string({"y", "target"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, Shape{}}};
}

std::vector<Value> RegressionLossOp::gradient(const GradientArgs& args) const {
  const Value dy =
      args.graph.emit(RegressionLossGradOp(attrs()),
                      {args.node.inputs[0], args.node.inputs[1], args.output_gradients[0]},
                      args.node.name);
  Value dt;
  if (args.needed[1]) dt = args.graph.emit(ScaleOp({.alpha = -1}), {dy}, args.node.name);
  return {dy, dt};
}

void RegressionLossOp::reference(const ReferenceArgs& args) const {
  const std::size_t n = args.in(0).data.size();
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double d = args.in(0).data[i] - args.in(1).data[i];
    sum += attrs().kind == RegressionLoss::mse ? d * d : std::abs(d);
  }
  args.out(0)[0] = n > 0 ? sum / static_cast<double>(n) : 0;
}

std::vector<ValueType> RegressionLossGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 3 && inputs[0] == inputs[1] &&
              inputs[2] == ValueType{DType::f32, Shape{}},
          "expected outputs, targets and dloss (); got {}",
          to_string({"y", "target", "dloss"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {inputs[0]};
}

void RegressionLossGradOp::reference(const ReferenceArgs& args) const {
  const std::size_t n = args.in(0).data.size();
  const double factor = args.in(2)[0] / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double d = args.in(0).data[i] - args.in(1).data[i];
    const double sign = d > 0 ? 1 : d < 0 ? -1 : d;
    args.out(0).data[i] = factor * (attrs().kind == RegressionLoss::mse ? 2 * d : sign);
  }
}

void register_regression_loss(OpRegistry& registry) {
  registry.add<RegressionLossOp>();
  registry.add<RegressionLossGradOp>();
}

}  // namespace linnet
