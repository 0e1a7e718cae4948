// SPDX-License-Identifier: Apache-2.0
#include "ops/dropout/dropout.h"

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  const DropoutAttrs attrs = node.attrs<DropoutOp>();
  const std::int64_t elements = node.in(0).elements();
  const std::int64_t blocks = (elements + 3) / 4;
  const int tasks = tasks_for(blocks, 12);
  Kernel kernel;
  kernel.stages.push_back({tasks, [=](const Args& args, const Task& task) {
                             const Range range = split(blocks, tasks, task.index);
                             const DropoutMask mask = dropout_mask(attrs, *task.step);
                             for (std::int64_t block = range.begin; block < range.end; ++block) {
                               const auto factors = mask(static_cast<std::uint64_t>(block));
                               const std::int64_t end =
                                   std::min<std::int64_t>(4, elements - 4 * block);
                               const float* x = args.in(0) + 4 * block;
                               float* y = args.out(0) + 4 * block;
                               for (std::int64_t i = 0; i < end; ++i) {
                                 y[i] = drop(x[i], factors[static_cast<std::size_t>(i)]);
                               }
                             }
                           }});
  return kernel;
}

}  // namespace

void register_dropout(Registry& registry) { registry.add(DropoutOp::kName, prepare); }

}  // namespace linnet::cpu
