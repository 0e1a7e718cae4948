// SPDX-License-Identifier: Apache-2.0
#include "ops/pad/pad.h"

#include "ops/slice/axis.h"
#include "ops/slice/rows_cpu.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  const PadAttrs attrs = node.attrs<PadOp>();
  const AxisView x = axis_view(node.in(PadOp::In::x), attrs.axis);
  const std::int64_t size = axis_view(node.out(PadOp::Out::y), attrs.axis).row();
  const std::int64_t low = attrs.before * x.inner;  // x lies in [low, high) of a row
  const std::int64_t high = low + x.row();
  const auto value = static_cast<float>(attrs.value);
  return for_rows(x.outer, size, kMoveCost,
                  [=](const Args& args, std::int64_t row, std::int64_t begin, std::int64_t end) {
                    const float* from = args.in(PadOp::In::x) + row * (high - low);
                    float* to = args.out(PadOp::Out::y) + row * size;
                    const std::int64_t copied = std::clamp(low, begin, end);
                    const std::int64_t rest = std::clamp(high, begin, end);
                    std::fill(to + begin, to + copied, value);
                    copy_floats(from + (copied - low), to + copied, rest - copied);
                    std::fill(to + rest, to + end, value);
                  });
}

}  // namespace

void register_pad(Registry& registry) { registry.add(PadOp::kName, prepare); }

}  // namespace linnet::cpu
