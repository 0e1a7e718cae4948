// SPDX-License-Identifier: Apache-2.0
#include "ops/sequence_mask/sequence_mask.h"

#include <cmath>

#include "graph/registry.h"
#include "ops/slice/axis.h"

namespace linnet {

std::vector<ValueType> SequenceMaskOp::infer(std::span<const ValueType> inputs) const {
  const std::int64_t axis = attrs().axis;
  const bool labels = !attrs().mean && attrs().fill == 0;
  require(inputs.size() == 2 &&
              (inputs[In::x].dtype == DType::f32 ||
               (labels && inputs[In::x].dtype == DType::i32)) &&
              axis >= 1 && axis < static_cast<std::int64_t>(inputs[In::x].shape.rank()) &&
              inputs[In::lengths] == ValueType{DType::i32, Shape{inputs[In::x].shape[0]}},
          "expected f32 sequences (N, ...) with steps along axis {} and lengths i32 (N); got {}",
          axis, to_string({"x", "lengths"}, {inputs.begin(), inputs.end()}));
  require(std::isfinite(attrs().fill), "expected a finite fill; got {}", attrs().fill);
  return {inputs[In::x]};
}

std::vector<Value> SequenceMaskOp::gradient(const GradientArgs& args) const {
  if (!args.needed[In::x]) return {Value{}, Value{}};
  SequenceMaskAttrs zeros = attrs();
  zeros.fill = 0;
  return {args.graph.emit(SequenceMaskOp(zeros),
                          {args.output_gradients[Out::y], args.node.inputs[In::lengths]},
                          args.node.name),
          {}};
}

void SequenceMaskOp::reference(const ReferenceArgs& args) const {
  const AxisView x = axis_view(args.in(In::x).shape, static_cast<int>(attrs().axis));
  const std::int64_t samples = args.in(In::x).shape[0];
  const std::int64_t outer = samples == 0 ? 0 : x.outer / samples;  // rows of steps in a sample
  const std::int64_t steps = args.in(In::x).shape[static_cast<int>(attrs().axis)];
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    const std::int64_t sample = i / (x.row() * outer);
    const std::int64_t length =
        steps_within(static_cast<std::int64_t>(args.in(In::lengths)[sample]), steps);
    const bool counts = i / x.inner % steps < length;
    const double divisor = attrs().mean ? static_cast<double>(length) : 1;
    args.out(Out::y)[i] = counts ? args.in(In::x)[i] / divisor : attrs().fill;
  }
}

void register_sequence_mask(OpRegistry& registry) { registry.add<SequenceMaskOp>(); }

}  // namespace linnet
