// SPDX-License-Identifier: Apache-2.0
#include "ops/slice/axis.h"
#include "ops/slice/rows_cpu.h"
#include "ops/slice/slice.h"

namespace linnet::cpu {
namespace {

/// Rows of a size that the compiler knows: a few moves instead of a call each.
template <std::int64_t kSize>
Kernel copy_short_rows(std::int64_t rows, std::int64_t from_stride, std::int64_t first) {
  return one_stage(rows, 1.0, [=](const Args& args, Range range) {
    const float* from = args.in(SliceOp::In::x) + first;
    float* to = args.out(SliceOp::Out::y);
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      copy_floats(from + r * from_stride, to + r * kSize, kSize);
    }
  });
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  using In = SliceOp::In;
  using Out = SliceOp::Out;
  const SliceAttrs attrs = node.attrs<SliceOp>();
  const AxisView x = axis_view(node.in(In::x), attrs.axis);
  const std::int64_t from_stride = x.row();
  const std::int64_t first = attrs.begin * x.inner;
  const std::int64_t size = (attrs.end - attrs.begin) * x.inner;
  switch (size) {
    case 1: return copy_short_rows<1>(x.outer, from_stride, first);
    case 2: return copy_short_rows<2>(x.outer, from_stride, first);
    case 3: return copy_short_rows<3>(x.outer, from_stride, first);
    case 4: return copy_short_rows<4>(x.outer, from_stride, first);
    default: break;
  }
  return for_rows(x.outer, size, kMoveCost,
                  [=](const Args& args, std::int64_t row, std::int64_t begin, std::int64_t end) {
                    copy_floats(args.in(In::x) + row * from_stride + first + begin,
                                args.out(Out::y) + row * size + begin, end - begin);
                  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = SliceGradOp::In;
  using Out = SliceGradOp::Out;
  const SliceGradAttrs attrs = node.attrs<SliceGradOp>();
  const AxisView dy = axis_view(node.in(In::dy), attrs.axis);
  const std::int64_t size = attrs.dim * dy.inner;
  const std::int64_t low = attrs.begin * dy.inner;  // dy lies in [low, high) of a row
  const std::int64_t high = low + dy.row();
  return for_rows(dy.outer, size, kMoveCost,
                  [=](const Args& args, std::int64_t row, std::int64_t begin, std::int64_t end) {
                    const float* from = args.in(In::dy) + row * (high - low);
                    float* to = args.out(Out::dx) + row * size;
                    const std::int64_t copied = std::clamp(low, begin, end);
                    const std::int64_t rest = std::clamp(high, begin, end);
                    std::fill(to + begin, to + copied, 0.0F);
                    copy_floats(from + (copied - low), to + copied, rest - copied);
                    std::fill(to + rest, to + end, 0.0F);
                  });
}

}  // namespace

void register_slice(Registry& registry) {
  registry.add(SliceOp::kName, prepare_forward);
  registry.add(SliceGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
