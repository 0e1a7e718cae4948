// SPDX-License-Identifier: Apache-2.0
#include "ops/reverse_sequence/reverse_sequence.h"

#include "backend/cpu/kernel.h"
#include "ops/slice/axis.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare_reverse_sequence(const NodeView& node) {
  using In = ReverseSequenceOp::In;
  using Out = ReverseSequenceOp::Out;
  const AxisView view = axis_view(node.in(In::x), 1);
  const double cost = 0.3 * static_cast<double>(view.inner);
  return one_stage(view.outer * view.dim, cost, [=](const Args& args, Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      const std::int64_t sample = r / view.dim;
      const std::int64_t from =
          reversed_step(r % view.dim, args.in<std::int32_t>(In::lengths)[sample], view.dim);
      std::copy_n(args.in(In::x) + (sample * view.dim + from) * view.inner, view.inner,
                  args.out(Out::y) + r * view.inner);
    }
  });
}

}  // namespace

void register_reverse_sequence(Registry& registry) {
  registry.add(ReverseSequenceOp::kName, prepare_reverse_sequence);
}

}  // namespace linnet::cpu
