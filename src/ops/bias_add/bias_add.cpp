// SPDX-License-Identifier: Apache-2.0
#include "ops/bias_add/bias_add.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> BiasAddOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[0].shape.rank() >= 1 && inputs[1].shape.rank() == 1 &&
              inputs[0].shape[-1] == inputs[1].shape[0],
          "expected a bias as long as the last axis; got {}",
          to_string({"x", "b"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {inputs[0]};
}

std::vector<Value> BiasAddOp::gradient(const GradientArgs& args) const {
  const Value dy = args.output_gradients[0];
  const Value db = args.needed[1] ? args.graph.emit(BiasGradOp(), {dy}, args.node.name) : Value{};
  return {dy, db};
}

void BiasAddOp::reference(const ReferenceArgs& args) const {
  const std::int64_t channels = args.in(1).shape[0];
  for (std::int64_t i = 0; i < args.in(0).shape.elements(); ++i) {
    args.out(0)[i] = args.in(0)[i] + args.in(1)[i % channels];
  }
}

std::vector<ValueType> BiasGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[0].shape.rank() >= 1, "expected one operand with an axis");
  require_f32(inputs);
  return {{DType::f32, Shape{inputs[0].shape[-1]}}};
}

void BiasGradOp::reference(const ReferenceArgs& args) const {
  const std::int64_t channels = args.out(0).shape[0];
  for (double& sum : args.out(0).data) sum = 0;
  for (std::int64_t i = 0; i < args.in(0).shape.elements(); ++i) {
    args.out(0)[i % channels] += args.in(0)[i];
  }
}

void register_bias_add(OpRegistry& registry) {
  registry.add<BiasAddOp>();
  registry.add<BiasGradOp>();
}

}  // namespace linnet
