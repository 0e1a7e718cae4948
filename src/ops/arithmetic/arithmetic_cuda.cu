// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/column_sum.cuh"
#include "backend/cuda/element_wise.cuh"
#include "graph/sum.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet::cuda {
namespace {

struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Subtract {
  __device__ float operator()(float a, float b) const { return a - b; }
};
struct Multiply {
  __device__ float operator()(float a, float b) const { return a * b; }
};
struct Divide {
  __device__ float operator()(float a, float b) const { return a / b; }
};
struct Scale {
  float alpha;
  float beta;
  __device__ float operator()(float x) const { return alpha * x + beta; }
};

template <class F>
Kernel combine(const NodeView& node, F f) {
  const std::int64_t elements = node.in(0).elements();
  const std::int64_t columns = node.in(1).elements();
  if (columns == elements || columns == 0) return zip("arithmetic", elements, f);
  return zip_rows("arithmetic", elements / columns, columns, f);
}

std::optional<Kernel> prepare_arithmetic(const NodeView& node, const Context& /*context*/) {
  switch (node.attrs<ArithmeticOp>().kind) {
    case Arithmetic::add: return combine(node, Add{});
    case Arithmetic::subtract: return combine(node, Subtract{});
    case Arithmetic::multiply: return combine(node, Multiply{});
    case Arithmetic::divide: return combine(node, Divide{});
  }
  return std::nullopt;
}

std::optional<Kernel> prepare_sum_leading(const NodeView& node, const Context& /*context*/) {
  const std::int64_t columns = node.out(0).elements();
  const std::int64_t rows = columns == 0 ? 0 : node.in(0).elements() / columns;
  return column_sum_of_input("sum_leading", rows, columns);
}

std::optional<Kernel> prepare_scale(const NodeView& node, const Context& /*context*/) {
  const auto alpha = static_cast<float>(node.attrs<ScaleOp>().alpha);
  const auto beta = static_cast<float>(node.attrs<ScaleOp>().beta);
  return map("scale", node.in(0).elements(), Scale{alpha, beta});
}

std::optional<Kernel> prepare_sum(const NodeView& node, const Context& /*context*/) {
  return zip("sum", node.in(0).elements(), Add{});
}

}  // namespace

void register_arithmetic(Registry& registry) {
  registry.add(ArithmeticOp::kName, prepare_arithmetic);
  registry.add(SumLeadingOp::kName, prepare_sum_leading);
  registry.add(ScaleOp::kName, prepare_scale);
  registry.add(SumOp::kName, prepare_sum);
}

}  // namespace linnet::cuda
