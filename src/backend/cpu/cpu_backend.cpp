// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/cpu_backend.h"

#include <cstring>

#include "backend/cpu/cpu_program.h"
#include "backend/cpu/memory.h"
#include "base/check.h"

namespace linnet::cpu {

CpuBackend::CpuBackend(Registry registry, int threads)
    : registry_(std::move(registry)), team_(std::make_shared<ThreadTeam>(threads)) {}

bool CpuBackend::supports(const Op& op, std::span<const ValueType> inputs,
                          std::span<const ValueType> outputs) const {
  return op.is_view() ||
         registry_.prepare({op, inputs, outputs, std::vector<bool>(outputs.size(), true)})
             .has_value();
}

std::unique_ptr<Buffer> CpuBackend::allocate(std::size_t bytes) const {
  return cpu::allocate(bytes);
}

std::shared_ptr<Buffer> CpuBackend::view(std::span<const std::byte> host) const {
  return cpu::view(host);
}

void CpuBackend::upload(Buffer& to, std::size_t offset, std::span<const std::byte> from) const {
  LINNET_ASSERT(offset + from.size() <= to.bytes());
  if (!from.empty()) std::memcpy(to.data() + offset, from.data(), from.size());
}

void CpuBackend::download(const Buffer& from, std::size_t offset, std::span<std::byte> to) const {
  LINNET_ASSERT(offset + to.size() <= from.bytes());
  if (!to.empty()) std::memcpy(to.data(), const_cast<Buffer&>(from).data() + offset, to.size());
}

std::unique_ptr<Program> CpuBackend::prepare(Graph graph, const PlanOptions& options) {
  std::vector<Kernel> kernels;
  kernels.reserve(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    const std::vector<ValueType> inputs = graph.types(node.inputs);
    const std::vector<ValueType> outputs = graph.types(node.outputs);
    std::optional<Kernel> kernel =
        registry_.prepare({*node.op, inputs, outputs, outputs_read(graph, node)});
    require(kernel.has_value() || node.op->is_view(),
            "[{} '{}'] has no kernel on the CPU for {} {}", node.op->name(), node.name,
            to_string({}, inputs), to_string(node.op->attributes()));
    kernels.push_back(kernel ? std::move(*kernel) : Kernel{});
  }
  std::size_t next = 0;
  Plan plan = make_plan(
      std::move(graph), [&](const Node&) { return kernels[next++].workspace_bytes; }, options);
  return std::make_unique<CpuProgram>(std::move(plan), std::move(kernels), team_);
}

}  // namespace linnet::cpu
