// SPDX-License-Identifier: Apache-2.0
#include "ops/expand/expand.h"

#include <algorithm>

#include "graph/registry.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/arithmetic/broadcast.h"

namespace linnet {

std::vector<ValueType> ExpandOp::infer(std::span<const ValueType> inputs) const {
  const Shape sample(attrs().shape);
  const bool positive = std::ranges::all_of(sample.dims(), [](std::int64_t e) { return e > 0; });
  const bool operands = (inputs.size() == 1 || inputs.size() == 2) &&
                        inputs[In::x].dtype == DType::f32 && inputs.back().shape.rank() > 0;
  bool fits = positive && operands;
  Shape y;
  if (fits) {
    y = sample.batched(inputs.back().shape[0]);
    const Shape& x = inputs[In::x].shape;
    const bool axes = inputs.size() == 1 ? x.rank() == y.rank() : x.rank() < y.rank();
    fits = axes && broadcast(y, x).has_value();
  }
  require(fits, "expected f32 x that repeats to (N, ...) with samples {}; got {}",
          to_string(sample), to_string({"x", "rows"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, y}};
}

std::vector<Value> ExpandOp::gradient(const GradientArgs& args) const {
  const Shape x = args.graph.shape(args.node.inputs[In::x]);
  std::vector<Value> gradients(args.node.inputs.size());
  if (args.needed[In::x]) {
    gradients[0] = sum_to(args.graph, args.output_gradients[Out::y], x, args.node.name);
  }
  return gradients;
}

void ExpandOp::reference(const ReferenceArgs& args) const {
  const Broadcast s = *broadcast(args.out(Out::y).shape, args.in(In::x).shape);
  for (std::int64_t i = 0; i < args.out(Out::y).shape.elements(); ++i) {
    const std::int64_t row = i / s.inner;
    args.out(Out::y)[i] = args.in(In::x)[row / s.repeat % s.own * s.inner + i % s.inner];
  }
}

Cost ExpandOp::cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const {
  return {.flops = 0,
          .bytes = static_cast<double>(inputs[In::x].bytes() + outputs[Out::y].bytes())};
}

void register_expand(OpRegistry& registry) { registry.add<ExpandOp>(); }

}  // namespace linnet
