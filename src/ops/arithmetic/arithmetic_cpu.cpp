// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/element_wise.h"
#include "backend/cpu/row_sum.h"
#include "graph/add.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/arithmetic/broadcast.h"

namespace linnet::cpu {
namespace {

using In = ArithmeticOp::In;
using Out = ArithmeticOp::Out;

/// Nanoseconds of one core for an element.
constexpr double kCost = 0.4;

/// The loops of one kind. They are called through pointers: a kernel for each kind and each form of
/// b would be seventy kilobytes.
struct Loops {
  void (*pairs)(const float* a, const float* b, std::int64_t count, float* y);
  void (*by_one)(const float* a, float b, std::int64_t count, float* y);
};

/// y = f(a, b) by a function without a state.
template <class F>
constexpr Loops loops_of(F /*f*/) {
  return {[](const float* a, const float* b, std::int64_t count, float* y) {
            for_pairs(a, b, count, y, F());
          },
          [](const float* a, float b, std::int64_t count, float* y) {
            for (std::int64_t i = 0; i < count; ++i) y[i] = F()(a[i], b);
          }};
}

/// b (own) stands for `repeat` neighbouring elements each.
Kernel by_runs(std::int64_t elements, std::int64_t own, std::int64_t repeat, Loops loops) {
  return one_stage(elements, kCost, [=](const Args& args, Range range) {
    for (std::int64_t i = range.begin; i < range.end;) {
      const std::int64_t run = i / repeat;
      const std::int64_t end = std::min(range.end, (run + 1) * repeat);
      loops.by_one(args.in(In::a) + i, args.in(In::b)[run % own], end - i, args.out(Out::y) + i);
      i = end;
    }
  });
}

/// a is (outer, own, repeat, inner).
Kernel by_repeated_rows(const Broadcast& s, Loops loops) {
  const std::int64_t rows = s.outer * s.own * s.repeat;
  return one_stage(rows, kCost * static_cast<double>(s.inner), [=](const Args& args, Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      loops.pairs(args.in(In::a) + r * s.inner, args.in(In::b) + r / s.repeat % s.own * s.inner,
                  s.inner, args.out(Out::y) + r * s.inner);
    }
  });
}

Kernel combine(const NodeView& node, Loops loops) {
  const std::int64_t elements = node.in(In::a).elements();
  if (elements == 0 || node.in(In::b).elements() == elements) {
    return zip_blocks(node, kCost, loops.pairs);
  }
  const Broadcast s = *broadcast(node.in(In::a), node.in(In::b));
  if (s.repeat == 1) return zip_rows(s.outer, s.own * s.inner, kCost, loops.pairs);
  if (s.inner == 1) return by_runs(elements, s.own, s.repeat, loops);
  return by_repeated_rows(s, loops);
}

constexpr auto kAdd = [](float a, float b) { return a + b; };

std::optional<Kernel> prepare_arithmetic(const NodeView& node) {
  switch (node.attrs<ArithmeticOp>().kind) {
    case Arithmetic::add: return combine(node, loops_of(kAdd));
    case Arithmetic::subtract:
      return combine(node, loops_of([](float a, float b) { return a - b; }));
    case Arithmetic::multiply:
      return combine(node, loops_of([](float a, float b) { return a * b; }));
    case Arithmetic::divide: return combine(node, loops_of([](float a, float b) { return a / b; }));
    case Arithmetic::maximum:
      return combine(node, loops_of([](float a, float b) { return a > b || a != a ? a : b; }));
    case Arithmetic::minimum:
      return combine(node, loops_of([](float a, float b) { return a < b || a != a ? a : b; }));
    case Arithmetic::exceeds:
      return combine(node, loops_of([](float a, float b) {
                       return a > b ? 1.0F : a < b ? 0.0F : a == b ? 0.5F : a - b;
                     }));
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
  return zip_blocks(node, kCost, loops_of(kAdd).pairs);
}

}  // namespace

void register_arithmetic(Registry& registry) {
  registry.add(ArithmeticOp::kName, prepare_arithmetic);
  registry.add(SumLeadingOp::kName, prepare_sum_leading);
  registry.add(ScaleOp::kName, prepare_scale, Stores::bf16);
  registry.add(AddOp::kName, prepare_add, Stores::bf16);
}

}  // namespace linnet::cpu
