// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include "backend/cuda/column_sum.cuh"
#include "backend/cuda/element_wise.cuh"
#include "graph/add.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/arithmetic/broadcast.h"

namespace linnet::cuda {
namespace {

/// y = f(a, b) for a (outer, own, repeat, inner), b (own, inner). kVector divides inner, or repeat
/// where inner is 1.
template <int kVector, class Index, class F>
void launch_repeated(const Args& args, std::int64_t elements, const Broadcast& s, F f) {
  using In = ArithmeticOp::In;
  const auto own = static_cast<Index>(s.own);
  const auto repeat = static_cast<Index>(s.repeat);
  const auto inner = static_cast<Index>(s.inner);
  const bool aligned = vector_aligned(args.in(In::a), args.out(kFirst));
  const auto combine = [=] __device__(std::int64_t i, float* y, const float* a, const float* b) {
    const Index row = static_cast<Index>(i * kVector) / inner;
    const Index column = static_cast<Index>(i * kVector) - row * inner;
    const float* at = b + static_cast<std::int64_t>(row / repeat % own) * inner + column;
    const auto left = load_vector<kVector>(a + i * kVector, aligned);
    FloatVector<kVector> to;
    if (inner == 1) {
      const float right = *at;
      for (int v = 0; v < kVector; ++v) to[v] = f(left[v], right);
    } else {
      for (int v = 0; v < kVector; ++v) to[v] = f(left[v], at[v]);
    }
    store_vector(y + i * kVector, to, aligned);
  };
  for_each_item(args.stream, "arithmetic", elements / kVector, combine, args.out(kFirst),
                args.in(In::a), args.in(In::b));
}

template <class F>
Kernel combine(const NodeView& node, F f) {
  using In = ArithmeticOp::In;
  const std::int64_t elements = node.in(In::a).elements();
  if (elements == 0 || node.in(In::b).elements() == elements) return zip("arithmetic", elements, f);
  const Broadcast s = *broadcast(node.in(In::a), node.in(In::b));
  if (s.repeat == 1) return zip_rows("arithmetic", s.outer, s.own * s.inner, f);
  const bool fours = (s.inner == 1 ? s.repeat : s.inner) % 4 == 0;
  return {.enqueue = [=](const Args& args) {
    with_index(elements, [&](auto index) {
      using Index = std::make_unsigned_t<decltype(index)>;  // divides sooner
      fours ? launch_repeated<4, Index>(args, elements, s, f)
            : launch_repeated<1, Index>(args, elements, s, f);
    });
  }};
}

std::optional<Kernel> prepare_arithmetic(const NodeView& node, const Context& /*context*/) {
  switch (node.attrs<ArithmeticOp>().kind) {
    case Arithmetic::add: return combine(node, std::plus<float>());
    case Arithmetic::subtract: return combine(node, std::minus<float>());
    case Arithmetic::multiply: return combine(node, std::multiplies<float>());
    case Arithmetic::divide: return combine(node, std::divides<float>());
    case Arithmetic::maximum:
      return combine(node, [] __device__(float a, float b) { return a > b || a != a ? a : b; });
    case Arithmetic::minimum:
      return combine(node, [] __device__(float a, float b) { return a < b || a != a ? a : b; });
    case Arithmetic::exceeds:
      return combine(node, [] __device__(float a, float b) {
        return a > b ? 1.0F : a < b ? 0.0F : a == b ? 0.5F : a - b;
      });
  }
  return std::nullopt;
}

std::optional<Kernel> prepare_sum_leading(const NodeView& node, const Context& /*context*/) {
  const std::int64_t columns = node.out(SumLeadingOp::Out::y).elements();
  const std::int64_t rows = columns == 0 ? 0 : node.in(SumLeadingOp::In::x).elements() / columns;
  return column_sum_of_input("sum_leading", rows, columns);
}

template <class T>
Kernel scale(const NodeView& node) {
  const auto alpha = static_cast<float>(node.attrs<ScaleOp>().alpha);
  const auto beta = static_cast<float>(node.attrs<ScaleOp>().beta);
  return map<T>("scale", node.in(ScaleOp::In::x).elements(),
                [=] __device__(float x) { return alpha * x + beta; });
}

std::optional<Kernel> prepare_scale(const NodeView& node, const Context& /*context*/) {
  return with_one_type(node, [&]<class T>() { return scale<T>(node); });
}

std::optional<Kernel> prepare_add(const NodeView& node, const Context& /*context*/) {
  return with_one_type(node, [&]<class T>() {
    return zip<T>("add", node.in(AddOp::In::a).elements(), std::plus<float>());
  });
}

}  // namespace

void register_arithmetic(Registry& registry) {
  registry.add(ArithmeticOp::kName, prepare_arithmetic);
  registry.add(SumLeadingOp::kName, prepare_sum_leading);
  registry.add(ScaleOp::kName, prepare_scale, Stores::half);
  registry.add(AddOp::kName, prepare_add, Stores::half);
}

}  // namespace linnet::cuda
