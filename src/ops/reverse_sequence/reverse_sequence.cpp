// SPDX-License-Identifier: Apache-2.0
#include "ops/reverse_sequence/reverse_sequence.h"

#include "graph/registry.h"
#include "ops/slice/axis.h"

namespace linnet {

std::vector<ValueType> ReverseSequenceOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[0].dtype == DType::f32 && inputs[0].shape.rank() >= 2 &&
              inputs[1] == ValueType{DType::i32, Shape{inputs[0].shape[0]}},
          "expected f32 sequences (N, T, ...) and lengths i32 (N); got {}",
          to_string({"x", "lengths"}, {inputs.begin(), inputs.end()}));
  return {inputs[0]};
}

std::vector<Value> ReverseSequenceOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(ReverseSequenceOp(), {args.output_gradients[0], args.node.inputs[1]},
                          args.node.name),
          {}};
}

void ReverseSequenceOp::reference(const ReferenceArgs& args) const {
  const AxisView x = axis_view(args.in(0).shape, 1);
  for (std::int64_t i = 0; i < args.in(0).shape.elements(); ++i) {
    const std::int64_t sample = i / x.row();
    const auto length = static_cast<std::int64_t>(args.in(1)[sample]);
    const std::int64_t from = reversed_step(i / x.inner % x.extent, length, x.extent);
    args.out(0)[i] = args.in(0)[sample * x.row() + from * x.inner + i % x.inner];
  }
}

void register_reverse_sequence(OpRegistry& registry) { registry.add<ReverseSequenceOp>(); }

}  // namespace linnet
