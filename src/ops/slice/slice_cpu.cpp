// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cpu/stored.h"
#include "ops/slice/axis.h"
#include "ops/slice/rows_cpu.h"
#include "ops/slice/slice.h"

namespace linnet::cpu {
namespace {

// T: float or bfloat16.

/// Rows of a size that the compiler knows: a few moves instead of a call each.
template <class T, std::int64_t kSize>
Kernel copy_short_rows(std::int64_t rows, std::int64_t from_stride, std::int64_t first) {
  return one_stage(rows, 1.0, [=](const Args& args, Range range) {
    const T* from = args.in<T>(SliceOp::In::x) + first;
    T* to = args.out<T>(SliceOp::Out::y);
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      std::copy_n(from + r * from_stride, kSize, to + r * kSize);
    }
  });
}

template <class T>
Kernel forward(const NodeView& node) {
  using In = SliceOp::In;
  using Out = SliceOp::Out;
  const SliceAttrs attrs = node.attrs<SliceOp>();
  const AxisView x = axis_view(node.in(In::x), attrs.axis);
  const std::int64_t from_stride = x.row();
  const std::int64_t first = attrs.begin * x.inner;
  const std::int64_t size = (attrs.end - attrs.begin) * x.inner;
  switch (size) {
    case 1: return copy_short_rows<T, 1>(x.outer, from_stride, first);
    case 2: return copy_short_rows<T, 2>(x.outer, from_stride, first);
    case 3: return copy_short_rows<T, 3>(x.outer, from_stride, first);
    case 4: return copy_short_rows<T, 4>(x.outer, from_stride, first);
    default: break;
  }
  return for_rows(x.outer, size, kMoveCost,
                  [=](const Args& args, std::int64_t row, std::int64_t begin, std::int64_t end) {
                    std::copy_n(args.in<T>(In::x) + row * from_stride + first + begin, end - begin,
                                args.out<T>(Out::y) + row * size + begin);
                  });
}

template <class T>
Kernel gradient(const NodeView& node) {
  using In = SliceGradOp::In;
  using Out = SliceGradOp::Out;
  const SliceGradAttrs attrs = node.attrs<SliceGradOp>();
  const AxisView dy = axis_view(node.in(In::dy), attrs.axis);
  const std::int64_t size = attrs.dim * dy.inner;
  const std::int64_t low = attrs.begin * dy.inner;  // dy lies in [low, high) of a row
  const std::int64_t high = low + dy.row();
  return for_rows(dy.outer, size, kMoveCost,
                  [=](const Args& args, std::int64_t row, std::int64_t begin, std::int64_t end) {
                    const T* from = args.in<T>(In::dy) + row * (high - low);
                    T* to = args.out<T>(Out::dx) + row * size;
                    const std::int64_t copied = std::clamp(low, begin, end);
                    const std::int64_t rest = std::clamp(high, begin, end);
                    std::fill(to + begin, to + copied, T{0});
                    std::copy_n(from + (copied - low), rest - copied, to + copied);
                    std::fill(to + rest, to + end, T{0});
                  });
}

template <Kernel (*f32)(const NodeView&), Kernel (*bf16)(const NodeView&)>
std::optional<Kernel> as_stored(const NodeView& node) {
  if (!is_of_one_type(node)) return std::nullopt;
  return stores_bf16(node) ? bf16(node) : f32(node);
}

}  // namespace

void register_slice(Registry& registry) {
  registry.add(SliceOp::kName, as_stored<forward<float>, forward<std::uint16_t>>, Stores::bf16);
  registry.add(SliceGradOp::kName, as_stored<gradient<float>, gradient<std::uint16_t>>,
               Stores::bf16);
}

}  // namespace linnet::cpu
