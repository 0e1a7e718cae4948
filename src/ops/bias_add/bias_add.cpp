// SPDX-License-Identifier: Apache-2.0
#include "ops/bias_add/bias_add.h"

#include "core/dims.h"
#include "graph/registry.h"
#include "ops/expand/expand.h"

namespace linnet {

std::vector<ValueType> BiasAddOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[In::x].shape.rank() >= 1 &&
              inputs[In::b].shape.rank() == 1 && inputs[In::x].shape[-1] == inputs[In::b].shape[0],
          "expected a bias as long as the last axis; got {}",
          to_string({"x", "b"}, {inputs.begin(), inputs.end()}));
  require_f32(inputs);
  return {inputs[In::x]};
}

std::vector<Value> BiasAddOp::gradient(const GradientArgs& args) const {
  const Value dy = args.output_gradients[Out::y];
  const Value db =
      args.needed[In::b] ? args.graph.emit(BiasGradOp(), {dy}, args.node.name) : Value{};
  return {dy, db};
}

void BiasAddOp::reference(const ReferenceArgs& args) const {
  const std::int64_t channels = args.in(In::b).shape[0];
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    args.out(Out::y)[i] = args.in(In::x)[i] + args.in(In::b)[i % channels];
  }
}

std::vector<ValueType> BiasGradOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::dy].shape.rank() >= 1,
          "expected one operand with an axis");
  require_f32(inputs);
  return {{DType::f32, Shape{inputs[In::dy].shape[-1]}}};
}

std::vector<Value> BiasGradOp::gradient(const GradientArgs& args) const {
  const Value dy = args.node.inputs[In::dy];
  const std::vector<std::int64_t> sample = dims_of(args.graph.shape(dy).sample());
  return {args.graph.emit(ExpandOp({.shape = sample}), {args.output_gradients[Out::db], dy},
                          args.node.name)};
}

void BiasGradOp::reference(const ReferenceArgs& args) const {
  const std::int64_t channels = args.out(Out::db).shape[0];
  for (double& sum : args.out(Out::db).data) sum = 0;
  for (std::int64_t i = 0; i < args.in(In::dy).shape.elements(); ++i) {
    args.out(Out::db)[i % channels] += args.in(In::dy)[i];
  }
}

void register_bias_add(OpRegistry& registry) {
  registry.add<BiasAddOp>();
  registry.add<BiasGradOp>();
}

}  // namespace linnet
