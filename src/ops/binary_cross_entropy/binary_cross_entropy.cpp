// SPDX-License-Identifier: Apache-2.0
#include "ops/binary_cross_entropy/binary_cross_entropy.h"

#include <cmath>

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> BceWithLogitsOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[In::logits] == inputs[In::target] &&
              inputs[In::logits].dtype == DType::f32,
          "expected logits and targets of one shape; got {}",
          to_string({"logits", "target"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, Shape{}}};
}

std::vector<Value> BceWithLogitsOp::gradient(const GradientArgs& args) const {
  require(!args.needed[In::target], "[{} '{}'] is not differentiable by its targets", kName,
          args.node.name);
  return {args.graph.emit(BceWithLogitsGradOp(),
                          {args.node.inputs[In::logits], args.node.inputs[In::target],
                           args.output_gradients[Out::loss]},
                          args.node.name),
          Value{}};
}

void BceWithLogitsOp::reference(const ReferenceArgs& args) const {
  const std::size_t n = args.in(In::logits).data.size();
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double z = args.in(In::logits).data[i];
    sum += (z > 0 ? z : 0) - z * args.in(In::target).data[i] + std::log1p(std::exp(-std::abs(z)));
  }
  args.out(Out::loss)[0] = n > 0 ? sum / static_cast<double>(n) : 0;
}

std::vector<ValueType> BceWithLogitsGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 3 && inputs[In::logits] == inputs[In::target] &&
              inputs[In::dloss] == ValueType{DType::f32, Shape{}},
          "expected logits, targets and dloss (); got {}",
          to_string({"logits", "target", "dloss"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {inputs[In::logits]};
}

void BceWithLogitsGradOp::reference(const ReferenceArgs& args) const {
  const std::size_t n = args.in(In::logits).data.size();
  const double factor = args.in(In::dloss)[0] / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double sigmoid = 1 / (1 + std::exp(-args.in(In::logits).data[i]));
    args.out(Out::dlogits).data[i] = factor * (sigmoid - args.in(In::target).data[i]);
  }
}

void register_binary_cross_entropy(OpRegistry& registry) {
  registry.add<BceWithLogitsOp>();
  registry.add<BceWithLogitsGradOp>();
}

}  // namespace linnet
