// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/kernel.h"
#include "base/check.h"
#include "ops/custom/custom.h"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_custom(const NodeView& node, const Context& /*context*/) {
  const auto& op = static_cast<const CustomOp&>(node.op);
  std::optional<CudaKernel> own = op.own().cuda(shapes_of(node.inputs), shapes_of(node.outputs));
  if (!own) return std::nullopt;
  require(own->enqueue != nullptr, "[{}] the CUDA kernel has no function", op.name());
  const auto enqueue = [enqueue = std::move(own->enqueue)](const Args& args) {
    if (args.stream.lists({.name = "custom"})) return;  // once, however many
    enqueue(KernelArrays(args.inputs, args.outputs, args.workspace), args.stream.stream());
  };
  return Kernel{.enqueue = enqueue, .workspace_bytes = own->workspace_bytes};
}

}  // namespace

void register_custom(Registry& registry) { registry.add(CustomOp::kName, prepare_custom); }

}  // namespace linnet::cuda
