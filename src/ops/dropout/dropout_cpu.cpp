// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout/dropout_cpu.h"

#include <algorithm>

#include "backend/cpu/kernel.h"
#include "backend/cpu/stored.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  using In = DropoutOp::In;
  using Out = DropoutOp::Out;
  const DropoutAttrs attrs = node.attrs<DropoutOp>();
  const Shape shape = node.in(In::x);
  const std::int64_t elements = shape.elements();
  const std::int64_t blocks = (elements + 3) / 4;
  const Stored from(node.inputs[In::x]);
  const Stored to(node.outputs[Out::y]);
  const std::int64_t at_once = stores_bf16(node) ? kStoredBlock : elements;
  Kernel kernel = one_stage(blocks, 3, [=](const Args& args, const Task& task, Range range) {
    auto* block = reinterpret_cast<float*>(task.scratch);
    const std::int64_t end = std::min(4 * range.end, elements);
    const std::uint64_t first = first_element(*task.step, shape);
    for (std::int64_t i = 4 * range.begin; i < end; i += at_once) {
      const std::int64_t count = std::min(at_once, end - i);
      const float* x = from.read(args.inputs[In::x], i, count, block);
      float* y = to.target(args.outputs[Out::y], i, block);
      drop_elements(dropout_mask(attrs, *task.step), first + static_cast<std::uint64_t>(i), count,
                    x, y);
      to.write(y, count, args.outputs[Out::y], i);
    }
  });
  if (stores_bf16(node)) kernel.scratch_bytes = kStoredBlock * sizeof(float);
  return kernel;
}

}  // namespace

void register_dropout(Registry& registry) { registry.add(DropoutOp::kName, prepare, Stores::bf16); }

}  // namespace linnet::cpu
