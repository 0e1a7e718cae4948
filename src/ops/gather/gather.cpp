// SPDX-License-Identifier: Apache-2.0
#include "ops/gather/gather.h"

#include <algorithm>
#include <limits>

#include "core/dims.h"
#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> GatherOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 2 && inputs[In::table].dtype == DType::f32 &&
              inputs[In::indices].dtype == DType::i32 && inputs[In::table].shape.rank() >= 1 &&
              inputs[In::indices].shape.rank() >= 1,
          "expected an f32 table (V, ...) and i32 indices (N, ...); got {}",
          to_string({"table", "indices"}, {inputs.begin(), inputs.end()}));
  std::vector<std::int64_t> dims = dims_of(inputs[In::indices].shape);
  const std::span<const std::int64_t> table = inputs[In::table].shape.dims();
  dims.insert(dims.end(), table.begin() + 1, table.end());
  return {{DType::f32, Shape(dims)}};
}

std::vector<Value> GatherOp::gradient(const GradientArgs& args) const {
  const std::int64_t rows = args.graph.shape(args.node.inputs[In::table])[0];
  return {args.graph.emit(GatherGradOp({.rows = rows}),
                          {args.output_gradients[Out::y], args.node.inputs[In::indices]},
                          args.node.name),
          Value{}};
}

void GatherOp::reference(const ReferenceArgs& args) const {
  const std::int64_t size = args.in(In::table).shape.sample().elements();
  for (std::int64_t i = 0; i < args.in(In::indices).shape.elements(); ++i) {
    const double row = args.in(In::indices)[i];
    const bool inside = row >= 0 && row < static_cast<double>(args.in(In::table).shape[0]);
    for (std::int64_t k = 0; k < size; ++k) {
      args.out(Out::y)[i * size + k] =
          inside ? args.in(In::table)[static_cast<std::int64_t>(row) * size + k]
                 : std::numeric_limits<double>::quiet_NaN();
    }
  }
}

Cost GatherOp::cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const {
  // Only the rows that ids name are read.
  return {.flops = 0,
          .bytes = static_cast<double>(inputs[In::indices].bytes() + 2 * outputs[Out::y].bytes())};
}

std::vector<ValueType> GatherGradOp::infer(std::span<const ValueType> inputs) const {
  require(attrs().rows >= 0, "expected 0 rows or more; got {}", attrs().rows);
  bool fits = inputs.size() == 2 && inputs[In::dy].dtype == DType::f32 &&
              inputs[In::indices].dtype == DType::i32;
  std::vector<std::int64_t> dims = {attrs().rows};
  if (fits) {
    const std::span<const std::int64_t> dy = inputs[In::dy].shape.dims();
    const std::span<const std::int64_t> indices = inputs[In::indices].shape.dims();
    fits = !indices.empty() && indices.size() <= dy.size() &&
           std::equal(indices.begin(), indices.end(), dy.begin());
    if (fits) {
      dims.insert(dims.end(), dy.begin() + static_cast<std::ptrdiff_t>(indices.size()), dy.end());
    }
  }
  require(fits, "expected f32 dy (N, ..., row) and i32 indices (N, ...); got {}",
          to_string({"dy", "indices"}, {inputs.begin(), inputs.end()}));
  return {{DType::f32, Shape(dims)}};
}

std::vector<Value> GatherGradOp::gradient(const GradientArgs& args) const {
  return {args.graph.emit(GatherOp(),
                          {args.output_gradients[Out::dtable], args.node.inputs[In::indices]},
                          args.node.name),
          Value{}};
}

void GatherGradOp::reference(const ReferenceArgs& args) const {
  const std::int64_t size = args.out(Out::dtable).shape.sample().elements();
  for (double& sum : args.out(Out::dtable).data) sum = 0;
  for (std::int64_t i = 0; i < args.in(In::indices).shape.elements(); ++i) {
    const double row = args.in(In::indices)[i];
    if (!(row >= 0 && row < static_cast<double>(attrs().rows))) continue;
    for (std::int64_t k = 0; k < size; ++k) {
      args.out(Out::dtable)[static_cast<std::int64_t>(row) * size + k] +=
          args.in(In::dy)[i * size + k];
    }
  }
}

void register_gather(OpRegistry& registry) {
  registry.add<GatherOp>();
  registry.add<GatherGradOp>();
}

}  // namespace linnet
