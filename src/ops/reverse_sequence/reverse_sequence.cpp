// SPDX-License-Identifier: Apache-2.0
#include "ops/reverse_sequence/reverse_sequence.h"

#include "graph/registry.h"
#include "ops/slice/axis.h"

namespace linnet {

std::vector<ValueType> ReverseSequenceOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[In::x].dtype == DType::f32 &&
              inputs[In::x].shape.rank() >= 2 &&
              inputs[In::lengths] == ValueType{DType::i32, Shape{inputs[In::x].shape[0]}},
          "expected f32 sequences (N, T, ...) and lengths i32 (N); got {}",
          to_string({"x", "lengths"}, {inputs.begin(), inputs.end()}));
  return {inputs[In::x]};
}

std::vector<Value> ReverseSequenceOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(ReverseSequenceOp(),
                          {args.output_gradients[Out::y], args.node.inputs[In::lengths]},
                          args.node.name),
          {}};
}

void ReverseSequenceOp::reference(const ReferenceArgs& args) const {
  const AxisView x = axis_view(args.in(In::x).shape, 1);
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    const std::int64_t sample = i / x.row();
    const auto length = static_cast<std::int64_t>(args.in(In::lengths)[sample]);
    const std::int64_t from = reversed_step(i / x.inner % x.dim, length, x.dim);
    args.out(Out::y)[i] = args.in(In::x)[sample * x.row() + from * x.inner + i % x.inner];
  }
}

void register_reverse_sequence(OpRegistry& registry) { registry.add<ReverseSequenceOp>(); }

}  // namespace linnet
