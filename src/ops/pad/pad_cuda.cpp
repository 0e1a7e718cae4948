// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/rows.h"
#include "ops/pad/pad.h"
#include "ops/slice/axis.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_pad(const NodeView& node, const Context& /*context*/) {
  const PadAttrs attrs = node.attrs<PadOp>();
  const AxisView x = axis_view(node.in(PadOp::In::x), attrs.axis);
  const std::int64_t low = attrs.before * x.inner;
  const PaddedRows rows{axis_view(node.out(PadOp::Out::y), attrs.axis).row(), low, low + x.row()};
  return Kernel{.enqueue = [=](const Args& args) {
    pad_rows(args.stream, "pad", x.outer, rows, static_cast<float>(attrs.value),
             args.in(PadOp::In::x), args.out(PadOp::Out::y));
  }};
}

}  // namespace

void register_pad(Registry& registry) { registry.add(PadOp::kName, prepare_pad); }

}  // namespace linnet::cuda
