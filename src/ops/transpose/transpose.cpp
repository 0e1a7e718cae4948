// SPDX-License-Identifier: Apache-2.0
#include "ops/transpose/transpose.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "graph/registry.h"

namespace linnet {
namespace {

bool is_sample_permutation(const std::vector<std::int64_t>& permutation, std::size_t rank) {
  if (permutation.size() != rank || rank == 0 || permutation[0] != 0) return false;
  std::vector<bool> seen(rank, false);
  for (std::int64_t axis : permutation) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return false;
    if (seen[static_cast<std::size_t>(axis)]) return false;
    seen[static_cast<std::size_t>(axis)] = true;
  }
  return true;
}

}  // namespace

std::vector<ValueType> TransposeOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::x].dtype == DType::f32 &&
              is_sample_permutation(attrs().permutation, inputs[In::x].shape.rank()),
          "expected one f32 operand and a permutation of its axes, the batch first; got ({}) and "
          "{}",
          fmt::join(attrs().permutation, ", "), to_string({"x"}, {inputs.begin(), inputs.end()}));
  std::vector<std::int64_t> dims;
  for (std::int64_t axis : attrs().permutation) {
    dims.push_back(inputs[In::x].shape[static_cast<int>(axis)]);
  }
  return {{DType::f32, Shape(dims)}};
}

std::vector<Value> TransposeOp::gradient(const GradientArgs& args) const {
  std::vector<std::int64_t> inverse(attrs().permutation.size());
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    inverse[static_cast<std::size_t>(attrs().permutation[i])] = static_cast<std::int64_t>(i);
  }
  return {args.graph.emit(TransposeOp({std::move(inverse)}), {args.output_gradients[Out::y]},
                          args.node.name)};
}

void TransposeOp::reference(const ReferenceArgs& args) const {
  const std::span<const std::int64_t> from = args.in(In::x).shape.dims();
  const std::span<const std::int64_t> to = args.out(Out::y).shape.dims();
  std::vector<std::int64_t> index(from.size());  // of the element of x
  for (std::int64_t i = 0; i < args.in(In::x).shape.elements(); ++i) {
    std::int64_t rest = i;
    for (std::size_t axis = from.size(); axis-- > 0; rest /= from[axis]) {
      index[axis] = rest % from[axis];
    }
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < to.size(); ++axis) {
      at = at * to[axis] + index[static_cast<std::size_t>(attrs().permutation[axis])];
    }
    args.out(Out::y)[at] = args.in(In::x)[i];
  }
}

Cost TransposeOp::cost(std::span<const ValueType> inputs,
                       std::span<const ValueType> outputs) const {
  return {.flops = 0,
          .bytes = static_cast<double>(inputs[In::x].bytes() + outputs[Out::y].bytes())};
}

void register_transpose(OpRegistry& registry) { registry.add<TransposeOp>(); }

}  // namespace linnet
