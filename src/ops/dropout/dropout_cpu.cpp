// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout/dropout_cpu.h"

#include <algorithm>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  using In = DropoutOp::In;
  using Out = DropoutOp::Out;
  const DropoutAttrs attrs = node.attrs<DropoutOp>();
  const Shape shape = node.in(In::x);
  const std::int64_t elements = shape.elements();
  const std::int64_t blocks = (elements + 3) / 4;
  return one_stage(blocks, 3, [=](const Args& args, const Task& task, Range range) {
    const std::int64_t begin = 4 * range.begin;
    const std::int64_t end = std::min(4 * range.end, elements);
    const std::uint64_t first = first_element(*task.step, shape);
    drop_elements(dropout_mask(attrs, *task.step), first + static_cast<std::uint64_t>(begin),
                  end - begin, args.in(In::x) + begin, args.out(Out::y) + begin);
  });
}

}  // namespace

void register_dropout(Registry& registry) { registry.add(DropoutOp::kName, prepare); }

}  // namespace linnet::cpu
