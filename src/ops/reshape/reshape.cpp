// SPDX-License-Identifier: Apache-2.0
#include "ops/reshape/reshape.h"

#include <algorithm>
#include <limits>

#include "core/dims.h"
#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> ReshapeOp::infer(std::span<const ValueType> inputs) const {
  const std::string got = to_string({"x"}, {inputs.begin(), inputs.end()});
  require(inputs.size() == 1, "expected one operand; got {}", got);
  std::vector<std::int64_t> dims = attrs().shape;
  const std::int64_t elements = inputs[In::x].shape.elements();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::int64_t known = 1;
  for (std::int64_t dim : dims) {
    // Dimensions from a file may be anything: their product must not overflow.
    require(dim >= -1 && (dim < 1 || known <= kMost / dim),
            "expected dimensions of at least 0, one of them -1; got {}", to_string(Shape(dims)));
    if (dim != -1) known *= dim;
  }
  const auto open = std::find(dims.begin(), dims.end(), -1);
  require(std::count(dims.begin(), dims.end(), -1) <= 1,
          "expected at most one dimension of -1; got {}", to_string(Shape(dims)));
  const bool fits = open == dims.end() ? known == elements : known > 0 && elements % known == 0;
  require(fits, "{} elements do not fit into the shape {}; got {}", elements,
          to_string(Shape(dims)), got);
  if (open != dims.end()) *open = elements / known;
  const Shape shape(dims);
  return {{inputs[In::x].dtype, shape}};
}

std::vector<Value> ReshapeOp::gradient(const GradientArgs& args) const {
  const Shape before = args.graph.shape(args.node.inputs[In::x]);
  // The batch stays open, so that the gradient's attributes don't depend on it.
  const ReshapeAttrs back{dims_of(before.rank() > 0 ? before.with_batch(-1) : before)};
  return {args.graph.emit(ReshapeOp(back), {args.output_gradients[Out::y]}, args.node.name)};
}

void ReshapeOp::reference(const ReferenceArgs& args) const {
  args.out(Out::y).data = args.in(In::x).data;
}

std::vector<ValueType> CopyOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1, "expected one operand; got {}", inputs.size());
  return {inputs[In::x]};
}

std::vector<Value> CopyOp::gradient(const GradientArgs& args) const {
  return {args.output_gradients[Out::y]};
}

void CopyOp::reference(const ReferenceArgs& args) const {
  args.out(Out::y).data = args.in(In::x).data;
}

Value flatten(Graph& graph, Value x, const std::string& name) {
  const Shape& shape = graph.shape(x);
  require(shape.rank() >= 1, "[flatten '{}'] expected (N, ...); got {}", name, to_string(shape));
  return graph.emit(ReshapeOp({{-1, shape.sample().elements()}}), {x}, name);
}

void register_reshape(OpRegistry& registry) {
  registry.add<ReshapeOp>();
  registry.add<CopyOp>();
}

}  // namespace linnet
