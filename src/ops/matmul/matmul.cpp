// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/matmul.h"

#include <algorithm>

#include "core/dims.h"
#include "graph/registry.h"

namespace linnet {
namespace {

bool same_leading_axes(const Shape& a, const Shape& b) {
  return std::equal(a.dims().begin(), a.dims().end() - 2, b.dims().begin(), b.dims().end() - 2);
}

}  // namespace

std::vector<ValueType> MatmulOp::infer(std::span<const ValueType> inputs) const {
  const std::vector<ValueType> types(inputs.begin(), inputs.end());
  require(inputs.size() == 2 && inputs[0].dtype == DType::f32 && inputs[1].dtype == DType::f32 &&
              inputs[0].shape.rank() >= 3 && inputs[1].shape.rank() >= 3 &&
              same_leading_axes(inputs[0].shape, inputs[1].shape),
          "expected f32 matrices a (N, ..., m, k) and b (N, ..., k, n) with the same leading axes; "
          "got {}",
          to_string({"a", "b"}, types));
  const MatmulExtents extents(attrs(), inputs[0].shape, inputs[1].shape);
  require(inputs[1].shape[attrs().transpose_b ? -1 : -2] == extents.k,
          "expected b with {} terms for each sum; got {}", extents.k, to_string({"a", "b"}, types));
  std::vector<std::int64_t> dims = dims_of(inputs[0].shape);
  dims.resize(dims.size() - 2);
  dims.push_back(extents.m);
  dims.push_back(extents.n);
  return {{DType::f32, Shape(dims)}};
}

std::vector<Value> MatmulOp::gradient(const GradientArgs& args) const {
  const auto [ta, tb] = attrs();
  const Value dy = args.output_gradients[0];
  const Value a = args.node.inputs[0];
  const Value b = args.node.inputs[1];
  const auto product = [&](Value left, bool transpose_left, Value right, bool transpose_right) {
    return args.graph.emit(MatmulOp(
                               {.transpose_a = transpose_left, .transpose_b = transpose_right}),
                           {left, right}, args.node.name);
  };
  std::vector<Value> gradients(2);
  if (args.needed[0]) gradients[0] = ta ? product(b, tb, dy, true) : product(dy, false, b, !tb);
  if (args.needed[1]) gradients[1] = tb ? product(dy, true, a, ta) : product(a, !ta, dy, false);
  return gradients;
}

void MatmulOp::reference(const ReferenceArgs& args) const {
  const MatmulExtents e(attrs(), args.in(0).shape, args.in(1).shape);
  for (std::int64_t p = 0; p < e.products; ++p) {
    for (std::int64_t i = 0; i < e.m; ++i) {
      for (std::int64_t j = 0; j < e.n; ++j) {
        double sum = 0;
        for (std::int64_t t = 0; t < e.k; ++t) {
          const std::int64_t from_a = attrs().transpose_a ? t * e.m + i : i * e.k + t;
          const std::int64_t from_b = attrs().transpose_b ? j * e.k + t : t * e.n + j;
          sum += args.in(0)[p * e.m * e.k + from_a] * args.in(1)[p * e.k * e.n + from_b];
        }
        args.out(0)[(p * e.m + i) * e.n + j] = sum;
      }
    }
  }
}

Cost MatmulOp::cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const {
  const MatmulExtents e(attrs(), inputs[0].shape, inputs[1].shape);
  Cost cost = Op::cost(inputs, outputs);
  cost.flops = 2.0 * static_cast<double>(e.products) * static_cast<double>(e.m) *
               static_cast<double>(e.n) * static_cast<double>(e.k);
  return cost;
}

void register_matmul(OpRegistry& registry) { registry.add<MatmulOp>(); }

}  // namespace linnet
