// SPDX-License-Identifier: Apache-2.0
#include "ops/loss_scale/loss_scale.h"

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  using In = LossScaleOp::In;
  Kernel kernel;
  kernel.stages.push_back(
      parallel(1,
               [interval = node.attrs<LossScaleOp>().interval](const Args& args, const Task& task) {
                 update_loss_scale(args.in_out(In::scale), args.in_out<double>(In::stopped),
                                   args.in<double>(In::counters), interval, *task.step);
               }));
  return kernel;
}

}  // namespace

void register_loss_scale(Registry& registry) { registry.add(LossScaleOp::kName, prepare); }

}  // namespace linnet::cpu
