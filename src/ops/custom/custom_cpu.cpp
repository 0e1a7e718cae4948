// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/kernel.h"
#include "base/check.h"
#include "ops/custom/custom.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  const auto& op = static_cast<const CustomOp&>(node.op);
  CpuKernel own = op.own().cpu(shapes_of(node.inputs), shapes_of(node.outputs));
  Kernel kernel;
  kernel.alone = true;
  kernel.workspace_bytes = own.workspace_bytes;
  for (CpuStage& stage : own.stages) {
    require(stage.tasks >= 1 && stage.run != nullptr,
            "[{}] a stage of the kernel has {} tasks{}; expected at least one and a function",
            op.name(), stage.tasks, stage.run == nullptr ? " and no function" : "");
    kernel.stages.push_back(
        parallel(stage.tasks, [run = std::move(stage.run)](const Args& args, const Task& task) {
          run(KernelArrays(args.inputs, args.outputs, args.workspace), task.index);
        }));
  }
  return kernel;
}

}  // namespace

void register_custom(Registry& registry) { registry.add(CustomOp::kName, prepare); }

}  // namespace linnet::cpu
