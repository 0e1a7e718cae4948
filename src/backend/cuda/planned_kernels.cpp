// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/planned_kernels.h"

#include <algorithm>
#include <cstdint>

#include "backend/cuda/loop_state.h"
#include "runtime/operands.h"
#include "runtime/prepare.h"

namespace linnet::cuda {
namespace {

constexpr std::uintptr_t kSpace = std::uintptr_t{1} << 40;  ///< of addresses, for one buffer

std::byte* address(std::size_t buffer) {
  return reinterpret_cast<std::byte*>((buffer + 1) * kSpace);
}

/// Addresses that nobody reads or writes: kernels see how they are aligned.
class Addresses final : public Buffer {
 public:
  Addresses(std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {}
  std::byte* data() override { return begin_; }
  std::size_t bytes() const override { return bytes_; }
  void read(std::size_t /*offset*/, std::span<std::byte> /*to*/) const override {
    throw InternalError("nothing lies at addresses of a list");
  }

 private:
  std::byte* begin_;
  std::size_t bytes_;
};

/// Returns operands at addresses such as a device would give them.
Operands addresses_of(const Plan& plan) {
  Memory memory;
  for (std::size_t s = 0; s < kStorages; ++s) {
    memory.buffers[s] = std::make_shared<Addresses>(address(s), plan.bytes[s]);
  }
  Operands operands;
  operands.attach(plan, memory, memory[Storage::constant]->data());
  for (const Placement& place : plan.values) {
    if (place.storage == Storage::external) {
      operands.bind(plan, place.offset, address(kStorages + 1 + place.offset));
    }
  }
  return operands;
}

/// Returns PlanOptions::room as the kernels want it: more than the type says, by which those who
/// look for numbers see that it holds something else (for_outputs_read in runtime/operands.cpp).
std::vector<std::size_t> room_for(const Graph& graph, const std::vector<Kernel>& kernels) {
  std::vector<std::size_t> room(graph.value_count());
  for (std::size_t n = 0; n < kernels.size(); ++n) {
    const std::vector<std::size_t>& bytes = kernels[n].result_bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == 0) continue;
      const Value result = graph.nodes()[n].outputs[i];
      room[static_cast<std::size_t>(result.id)] =
          std::max(bytes[i], graph.type(result).bytes() + 1);
    }
  }
  return room;
}

StepLaunches launches_of(const Plan& plan, const std::vector<Kernel>& kernels) {
  StepLaunches launches;
  const Operands operands = addresses_of(plan);
  auto* state = reinterpret_cast<ProgramState*>(address(kStorages));
  launches.nodes.resize(kernels.size());
  for (std::size_t n = 0; n < kernels.size(); ++n) {
    if (!plan.runs(n)) continue;
    const Operands::NodeOperands& node = operands[n];
    kernels[n].enqueue({.inputs = node.inputs,
                        .outputs = node.outputs,
                        .workspace = node.workspace,
                        .packed = address(kStorages),
                        .step = &state->loop.step,
                        .stream = Queue(launches.nodes[n]),
                        .tickets = state->tickets});
  }
  if (!ends_itself(plan, kernels)) advance_loop(Queue(launches.ending), {.loop = &state->loop});
  return launches;
}

}  // namespace

bool ends_itself(const Plan& plan, const std::vector<Kernel>& kernels) {
  for (std::size_t n = kernels.size(); n-- > 0;) {
    if (plan.runs(n)) return kernels[n].ends_steps && !plan.branches.is_side(n);
  }
  return false;
}

PlannedKernels plan_kernels(Graph graph, const Registry& registry, const Context& context,
                            const PlanOptions& options) {
  PlannedKernels planned;
  planned.kernels = prepare_kernels<Kernel>(
      graph, "CUDA", [&](const NodeView& node) { return registry.prepare(node, context); },
      options.fixed_weights);
  PlanOptions wanted = options;
  wanted.branches = true;
  wanted.room = room_for(graph, planned.kernels);
  planned.plan = plan_for(std::move(graph), planned.kernels, wanted);
  for (const Kernel& kernel : planned.kernels) planned.plan.engines.push_back(kernel.engine);
  planned.launches = launches_of(planned.plan, planned.kernels);
  return planned;
}

Capabilities capabilities_of(const Context& context) {
  return {.whole_epochs = context.options.graph_steps == CudaOptions::kWholeEpoch,
          .scales_loss = context.half() == DType::f16};
}

bool has_kernel(const Registry& registry, const Context& context, const Op& op,
                std::span<const ValueType> inputs, std::span<const ValueType> outputs) {
  const NodeView node{op, inputs, outputs, std::vector<bool>(outputs.size(), true)};
  for (const DType half : {DType::bf16, DType::f16}) {
    if (stores(node, half) && half != context.half()) return false;
  }
  return op.is_view() || registry.prepare(node, context).has_value();
}

}  // namespace linnet::cuda
