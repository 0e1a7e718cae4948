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
  require(inputs.size() == 2 && inputs[In::a].dtype == DType::f32 &&
              inputs[In::b].dtype == DType::f32 && inputs[In::a].shape.rank() >= 3 &&
              inputs[In::b].shape.rank() >= 3 &&
              same_leading_axes(inputs[In::a].shape, inputs[In::b].shape),
          "expected f32 matrices a (N, ..., m, k) and b (N, ..., k, n) with the same leading axes; "
          "got {}",
          to_string({"a", "b"}, types));
  const MatmulDims sizes(attrs(), inputs[In::a].shape, inputs[In::b].shape);
  require(inputs[In::b].shape[attrs().transpose_b ? -1 : -2] == sizes.k,
          "expected b with {} terms for each sum; got {}", sizes.k, to_string({"a", "b"}, types));
  std::vector<std::int64_t> dims = dims_of(inputs[In::a].shape);
  dims.resize(dims.size() - 2);
  dims.push_back(sizes.m);
  dims.push_back(sizes.n);
  return {{DType::f32, Shape(dims)}};
}

std::vector<Value> MatmulOp::gradient(const GradientArgs& args) const {
  const auto [ta, tb] = attrs();
  const Value dy = args.output_gradients[Out::y];
  const Value a = args.node.inputs[In::a];
  const Value b = args.node.inputs[In::b];
  const auto product = [&](Value left, bool transpose_left, Value right, bool transpose_right) {
    return args.graph.emit(MatmulOp(
                               {.transpose_a = transpose_left, .transpose_b = transpose_right}),
                           {left, right}, args.node.name);
  };
  std::vector<Value> gradients(2);
  if (args.needed[In::a])
    gradients[In::a] = ta ? product(b, tb, dy, true) : product(dy, false, b, !tb);
  if (args.needed[In::b])
    gradients[In::b] = tb ? product(dy, true, a, ta) : product(a, !ta, dy, false);
  return gradients;
}

void MatmulOp::reference(const ReferenceArgs& args) const {
  const MatmulDims e(attrs(), args.in(In::a).shape, args.in(In::b).shape);
  for (std::int64_t p = 0; p < e.products; ++p) {
    for (std::int64_t i = 0; i < e.m; ++i) {
      for (std::int64_t j = 0; j < e.n; ++j) {
        double sum = 0;
        for (std::int64_t t = 0; t < e.k; ++t) {
          const std::int64_t from_a = attrs().transpose_a ? t * e.m + i : i * e.k + t;
          const std::int64_t from_b = attrs().transpose_b ? j * e.k + t : t * e.n + j;
          sum += args.in(In::a)[p * e.m * e.k + from_a] * args.in(In::b)[p * e.k * e.n + from_b];
        }
        args.out(Out::y)[(p * e.m + i) * e.n + j] = sum;
      }
    }
  }
}

Cost MatmulOp::cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const {
  const MatmulDims e(attrs(), inputs[In::a].shape, inputs[In::b].shape);
  Cost cost = Op::cost(inputs, outputs);
  cost.flops = 2.0 * static_cast<double>(e.products) * static_cast<double>(e.m) *
               static_cast<double>(e.n) * static_cast<double>(e.k);
  return cost;
}

void register_matmul(OpRegistry& registry) { registry.add<MatmulOp>(); }

}  // namespace linnet
