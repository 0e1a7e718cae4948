// SPDX-License-Identifier: Apache-2.0
#include "ops/expand/expand.h"

#include "ops/arithmetic/broadcast.h"
#include "ops/slice/rows_cpu.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  const std::int64_t elements = node.out(ExpandOp::Out::y).elements();
  if (elements == 0) return one_stage(0, 1, [](const Args&, Range) {});
  const Broadcast s = *broadcast(node.out(ExpandOp::Out::y), node.in(ExpandOp::In::x));
  if (s.inner == 1) {
    return for_rows(s.outer * s.own, s.repeat, kMoveCost,
                    [=](const Args& args, std::int64_t row, std::int64_t begin, std::int64_t end) {
                      float* y = args.out(ExpandOp::Out::y) + row * s.repeat;
                      std::fill(y + begin, y + end, args.in(ExpandOp::In::x)[row % s.own]);
                    });
  }
  return for_rows(s.outer * s.own * s.repeat, s.inner, kMoveCost,
                  [=](const Args& args, std::int64_t row, std::int64_t begin, std::int64_t end) {
                    const float* x = args.in(ExpandOp::In::x) + row / s.repeat % s.own * s.inner;
                    copy_floats(x + begin, args.out(ExpandOp::Out::y) + row * s.inner + begin,
                                end - begin);
                  });
}

}  // namespace

void register_expand(Registry& registry) { registry.add(ExpandOp::kName, prepare); }

}  // namespace linnet::cpu
