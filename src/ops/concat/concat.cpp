// SPDX-License-Identifier: Apache-2.0
#include "ops/concat/concat.h"

#include <fmt/format.h>

#include "graph/registry.h"
#include "ops/slice/axis.h"
#include "ops/slice/slice.h"

namespace linnet {

std::vector<ValueType> ConcatOp::infer(std::span<const ValueType> inputs) const {
  const int axis = attrs().axis;
  bool fits = !inputs.empty() && is_sample_axis(inputs[In::first].shape, axis);
  std::vector<std::string> names;
  std::int64_t dim = 0;
  for (const ValueType& type : inputs) {
    names.push_back(fmt::format("x{}", names.size()));
    fits = fits && type.dtype == DType::f32 &&
           type.shape.rank() == inputs[In::first].shape.rank() &&
           with_dim(type.shape, axis, 0) == with_dim(inputs[In::first].shape, axis, 0);
    if (fits) dim += type.shape[axis];
  }
  require(fits, "expected f32 operands that differ in axis {} (after the batch) alone; got {}",
          axis, to_string(names, {inputs.begin(), inputs.end()}));
  return {{DType::f32, with_dim(inputs[In::first].shape, axis, dim)}};
}

std::vector<Value> ConcatOp::gradient(const GradientArgs& args) const {
  std::vector<Value> gradients;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < args.node.inputs.size(); ++i) {
    const std::int64_t end = begin + args.graph.shape(args.node.inputs[i])[attrs().axis];
    gradients.push_back(
        args.needed[i]
            ? args.graph.emit(SliceOp({.axis = attrs().axis, .begin = begin, .end = end}),
                              {args.output_gradients[Out::y]}, args.node.name)
            : Value{});
    begin = end;
  }
  return gradients;
}

void ConcatOp::reference(const ReferenceArgs& args) const {
  const AxisView to = axis_view(args.out(Out::y).shape, attrs().axis);
  std::int64_t first = 0;
  for (const ReferenceTensor* x : args.inputs) {
    const AxisView from = axis_view(x->shape, attrs().axis);
    for (std::int64_t o = 0; o < from.outer; ++o) {
      for (std::int64_t k = 0; k < from.row(); ++k) {
        args.out(Out::y)[o * to.row() + first + k] = (*x)[o * from.row() + k];
      }
    }
    first += from.row();
  }
}

void register_concat(OpRegistry& registry) { registry.add<ConcatOp>(); }

}  // namespace linnet
