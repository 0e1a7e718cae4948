// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/element_wise.h"
#include "backend/cpu/row_sum.h"
#include "graph/add.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/arithmetic/broadcast.h"

namespace linnet::cpu {
namespace {

/// y = f(a, b) where b (own) stands for `repeat` neighbouring elements each.
template <class F>
Kernel zip_runs(std::int64_t elements, std::int64_t own, std::int64_t repeat, F f) {
  using In = ArithmeticOp::In;
  using Out = ArithmeticOp::Out;
  return one_stage(elements, 0.4, [=](const Args& args, Range range) {
    for (std::int64_t i = range.begin; i < range.end;) {
      const std::int64_t run = i / repeat;
      const std::int64_t end = std::min(range.end, (run + 1) * repeat);
      const float b = args.in(In::b)[run % own];
      const float* a = args.in(In::a);
      float* y = args.out(Out::y);
      for (; i < end; ++i) y[i] = f(a[i], b);
    }
  });
}

/// y = f(a, b) on the rows of a (outer, own, repeat, inner).
template <class F>
Kernel zip_repeated_rows(const Broadcast& s, F f) {
  using In = ArithmeticOp::In;
  using Out = ArithmeticOp::Out;
  const std::int64_t rows = s.outer * s.own * s.repeat;
  return one_stage(rows, 0.4 * static_cast<double>(s.inner), [=](const Args& args, Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      const float* a = args.in(In::a) + r * s.inner;
      const float* b = args.in(In::b) + r / s.repeat % s.own * s.inner;
      float* y = args.out(Out::y) + r * s.inner;
      for (std::int64_t c = 0; c < s.inner; ++c) y[c] = f(a[c], b[c]);
    }
  });
}

template <class F>
Kernel combine(const NodeView& node, F f) {
  using In = ArithmeticOp::In;
  const std::int64_t elements = node.in(In::a).elements();
  if (elements == 0 || node.in(In::b).elements() == elements) return zip(node, 0.4, f);
  const Broadcast s = *broadcast(node.in(In::a), node.in(In::b));
  if (s.repeat == 1) return zip_rows(s.outer, s.own * s.inner, 0.4, f);
  if (s.inner == 1) return zip_runs(elements, s.own, s.repeat, f);
  return zip_repeated_rows(s, f);
}

std::optional<Kernel> prepare_arithmetic(const NodeView& node) {
  switch (node.attrs<ArithmeticOp>().kind) {
    case Arithmetic::add: return combine(node, [](float a, float b) { return a + b; });
    case Arithmetic::subtract: return combine(node, [](float a, float b) { return a - b; });
    case Arithmetic::multiply: return combine(node, [](float a, float b) { return a * b; });
    case Arithmetic::divide: return combine(node, [](float a, float b) { return a / b; });
    case Arithmetic::maximum:
      return combine(node, [](float a, float b) { return a > b || a != a ? a : b; });
    case Arithmetic::minimum:
      return combine(node, [](float a, float b) { return a < b || a != a ? a : b; });
    case Arithmetic::exceeds:
      return combine(node, [](float a, float b) {
        return a > b ? 1.0F : a < b ? 0.0F : a == b ? 0.5F : a - b;
      });
  }
  return std::nullopt;
}

std::optional<Kernel> prepare_sum_leading(const NodeView& node) {
  const std::int64_t columns = node.out(SumLeadingOp::Out::y).elements();
  const std::int64_t rows = columns == 0 ? 0 : node.in(SumLeadingOp::In::x).elements() / columns;
  return plain_row_sum(node, rows, columns);
}

std::optional<Kernel> prepare_scale(const NodeView& node) {
  const auto alpha = static_cast<float>(node.attrs<ScaleOp>().alpha);
  const auto beta = static_cast<float>(node.attrs<ScaleOp>().beta);
  return map(node, 0.3, [=](float x) { return alpha * x + beta; });
}

std::optional<Kernel> prepare_add(const NodeView& node) {
  if (!is_of_one_type(node)) return std::nullopt;  // sums of weights' gradients are not rounded
  return zip(node, 0.4, [](float a, float b) { return a + b; });
}

}  // namespace

void register_arithmetic(Registry& registry) {
  registry.add(ArithmeticOp::kName, prepare_arithmetic);
  registry.add(SumLeadingOp::kName, prepare_sum_leading);
  registry.add(ScaleOp::kName, prepare_scale, Stores::bf16);
  registry.add(AddOp::kName, prepare_add, Stores::bf16);
}

}  // namespace linnet::cpu
