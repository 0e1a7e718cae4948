// SPDX-License-Identifier: Apache-2.0
#include "ops/strided_slice/strided_slice.h"

#include "ops/slice/axis.h"
#include "ops/slice/rows_cpu.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const StridedSliceAttrs a = node.attrs<StridedSliceOp>();
  const AxisView x = axis_view(node.in(StridedSliceOp::In::x), a.axis);
  const double cost = 1 + kMoveCost * static_cast<double>(x.inner);
  return one_stage(x.outer * a.count, cost, [=](const Args& args, Range range) {
    for (std::int64_t line = range.begin; line < range.end; ++line) {
      const std::int64_t row = line / a.count;
      const std::int64_t k = a.begin + (line - row * a.count) * a.step;
      copy_floats(args.in(StridedSliceOp::In::x) + row * x.row() + k * x.inner,
                  args.out(StridedSliceOp::Out::y) + line * x.inner, x.inner);
    }
  });
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const StridedSliceAttrs a = node.attrs<StridedSliceGradOp>().slice;
  const AxisView dx = axis_view(node.out(StridedSliceGradOp::Out::dx), a.axis);
  const std::int64_t dy_row = a.count * dx.inner;
  const double cost = kMoveCost * static_cast<double>(dx.row() + dy_row);
  return one_stage(dx.outer, cost, [=](const Args& args, Range range) {
    for (std::int64_t row = range.begin; row < range.end; ++row) {
      const float* from = args.in(StridedSliceGradOp::In::dy) + row * dy_row;
      float* to = args.out(StridedSliceGradOp::Out::dx) + row * dx.row();
      std::fill_n(to, dx.row(), 0.0F);
      for (std::int64_t k = 0; k < a.count; ++k) {
        copy_floats(from + k * dx.inner, to + (a.begin + k * a.step) * dx.inner, dx.inner);
      }
    }
  });
}

}  // namespace

void register_strided_slice(Registry& registry) {
  registry.add(StridedSliceOp::kName, prepare_forward);
  registry.add(StridedSliceGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
