// SPDX-License-Identifier: Apache-2.0
#include "ops/binary_cross_entropy/binary_cross_entropy.h"

#include <cmath>

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> BceWithLogitsOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[0] == inputs[1] && inputs[0].dtype == DType::f32,
          "expected logits and targets of one shape; got {}",
          to_string({"logits", "target"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, Shape{}}};
}

std::vector<Value> BceWithLogitsOp::gradient(const GradientArgs& args) const {
  require(!args.needed[1], "[{} '{}'] is not differentiable by its targets", kName, args.node.name);
  return {args.graph.emit(BceWithLogitsGradOp(),
                          {args.node.inputs[0], args.node.inputs[1], args.output_gradients[0]},
                          args.node.name),
          Value{}};
}

void BceWithLogitsOp::reference(const ReferenceArgs& args) const {
  const std::size_t n = args.in(0).data.size();
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double z = args.in(0).data[i];
    sum += (z > 0 ? z : 0) - z * args.in(1).data[i] + std::log1p(std::exp(-std::abs(z)));
  }
  args.out(0)[0] = n > 0 ? sum / static_cast<double>(n) : 0;
}

std::vector<ValueType> BceWithLogitsGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 3 && inputs[0] == inputs[1] &&
              inputs[2] == ValueType{DType::f32, Shape{}},
          "expected logits, targets and dloss (); got {}",
          to_string({"logits", "target", "dloss"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {inputs[0]};
}

void BceWithLogitsGradOp::reference(const ReferenceArgs& args) const {
  const std::size_t n = args.in(0).data.size();
  const double factor = args.in(2)[0] / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double sigmoid = 1 / (1 + std::exp(-args.in(0).data[i]));
    args.out(0).data[i] = factor * (sigmoid - args.in(1).data[i]);
  }
}

void register_binary_cross_entropy(OpRegistry& registry) {
  registry.add<BceWithLogitsOp>();
  registry.add<BceWithLogitsGradOp>();
}

}  // namespace linnet
