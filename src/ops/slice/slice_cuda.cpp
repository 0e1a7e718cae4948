// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/rows.h"
#include "ops/slice/axis.h"
#include "ops/slice/slice.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_slice(const NodeView& node, const Context& /*context*/) {
  using In = SliceOp::In;
  using Out = SliceOp::Out;
  const SliceAttrs attrs = node.attrs<SliceOp>();
  const AxisView x = axis_view(node.in(In::x), attrs.axis);
  const std::int64_t first = attrs.begin * x.inner;
  const std::int64_t size = (attrs.end - attrs.begin) * x.inner;
  return with_one_type(node, [&]<class T>() {
    return Kernel{.enqueue = [=](const Args& args) {
      copy_rows<T>(args.stream, "slice", x.outer,
                   {{args.in<T>(In::x) + first, args.out<T>(Out::y), x.row(), size, size}});
    }};
  });
}

std::optional<Kernel> prepare_slice_grad(const NodeView& node, const Context& /*context*/) {
  using In = SliceGradOp::In;
  using Out = SliceGradOp::Out;
  const SliceGradAttrs attrs = node.attrs<SliceGradOp>();
  const AxisView dy = axis_view(node.in(In::dy), attrs.axis);
  const std::int64_t low = attrs.begin * dy.inner;
  const PaddedRows rows{attrs.dim * dy.inner, low, low + dy.row()};
  return with_one_type(node, [&]<class T>() {
    return Kernel{.enqueue = [=](const Args& args) {
      pad_rows(args.stream, "slice_grad", dy.outer, rows, T{}, args.in<T>(In::dy),
               args.out<T>(Out::dx));
    }};
  });
}

}  // namespace

void register_slice(Registry& registry) {
  registry.add(SliceOp::kName, prepare_slice, Stores::half);
  registry.add(SliceGradOp::kName, prepare_slice_grad, Stores::half);
}

}  // namespace linnet::cuda
