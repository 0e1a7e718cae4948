// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/element_wise.h"
#include "backend/cpu/row_sum.h"
#include "graph/sum.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet::cpu {
namespace {

/// b repeats with every row of `columns`.
template <class F>
Kernel rows_with(std::int64_t rows, std::int64_t columns, F f) {
  const auto width = static_cast<double>(columns);
  return element_wise(rows, 0.4 * width, [=](const Args& args, Range range) {
    const float* b = args.in(1);
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      const float* a = args.in(0) + r * columns;
      float* y = args.out(0) + r * columns;
      for (std::int64_t c = 0; c < columns; ++c) y[c] = f(a[c], b[c]);
    }
  });
}

template <class F>
Kernel combine(const NodeView& node, F f) {
  const std::int64_t elements = node.in(0).elements();
  const std::int64_t columns = node.in(1).elements();
  if (columns == elements || columns == 0) return zip(elements, 0.4, f);
  return rows_with(elements / columns, columns, f);
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
  return row_sum(rows, columns, 0.3 * static_cast<double>(columns), 0,
                 [columns](const Args& args, Range range, float* sums) {
                   for (std::int64_t r = range.begin; r < range.end; ++r) {
                     const float* x = args.in(0) + r * columns;
                     for (std::int64_t c = 0; c < columns; ++c) sums[c] += x[c];
                   }
                 });
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
