// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/element_wise.h"
#include "backend/cpu/row_sum.h"
#include "graph/sum.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet::cpu {
namespace {

template <class F>
Kernel combine(const NodeView& node, F f) {
  const std::int64_t elements = node.in(0).elements();
  const std::int64_t columns = node.in(1).elements();
  if (columns == elements || columns == 0) return zip(elements, 0.4, f);
  return zip_rows(elements / columns, columns, 0.4, f);
}

std::optional<Kernel> prepare_arithmetic(const NodeView& node) {
  switch (node.attrs<ArithmeticOp>().kind) {
    case Arithmetic::add: return combine(node, [](float a, float b) { return a + b; });
    case Arithmetic::subtract: return combine(node, [](float a, float b) { return a - b; });
    case Arithmetic::multiply: return combine(node, [](float a, float b) { return a * b; });
    case Arithmetic::divide: return combine(node, [](float a, float b) { return a / b; });
  }
  return std::nullopt;
}

std::optional<Kernel> prepare_sum_leading(const NodeView& node) {
  const std::int64_t columns = node.out(0).elements();
  const std::int64_t rows = columns == 0 ? 0 : node.in(0).elements() / columns;
  return plain_row_sum(rows, columns, 0, 0);
}

std::optional<Kernel> prepare_scale(const NodeView& node) {
  const auto alpha = static_cast<float>(node.attrs<ScaleOp>().alpha);
  const auto beta = static_cast<float>(node.attrs<ScaleOp>().beta);
  return map(node.in(0).elements(), 0.3, [=](float x) { return alpha * x + beta; });
}

std::optional<Kernel> prepare_sum(const NodeView& node) {
  return zip(node.in(0).elements(), 0.4, [](float a, float b) { return a + b; });
}

}  // namespace

void register_arithmetic(Registry& registry) {
  registry.add(ArithmeticOp::kName, prepare_arithmetic);
  registry.add(SumLeadingOp::kName, prepare_sum_leading);
  registry.add(ScaleOp::kName, prepare_scale);
  registry.add(SumOp::kName, prepare_sum);
}

}  // namespace linnet::cpu
