// SPDX-License-Identifier: Apache-2.0
#include "fake_op.h"

#include <cstring>

namespace linnet::testing {
namespace {

using cpu::Args;
using cpu::Kernel;
using cpu::Range;
using cpu::Task;

constexpr int kTasks = 3;

std::optional<Kernel> prepare(const NodeView& node) {
  const FakeAttrs attrs = node.attrs<FakeOp>();
  std::vector<std::int64_t> sizes;
  for (const ValueType& type : node.inputs) sizes.push_back(type.shape.elements());
  const std::int64_t n = node.out(0).elements();
  Kernel kernel;
  kernel.workspace_bytes = static_cast<std::size_t>(attrs.workspace) * sizeof(float);
  kernel.scratch_bytes = sizeof(float);
  // Before anything else the workspace is written over, as a kernel may.
  if (attrs.workspace > 0 && attrs.fault != "workspace") {
    kernel.stages.push_back({1, [=](const Args& args, const Task&) {
                               std::fill_n(args.work(), attrs.workspace, 0.0F);
                             }});
  }
  const std::int64_t written = attrs.fault == "last element" ? n - 1 : n;
  // Inputs of other sizes are read at other places than the output is written.
  kernel.stages.push_back({kTasks, [=](const Args& args, const Task& task) {
                             const Range range = cpu::split(written, kTasks, task.index);
                             auto* scratch = reinterpret_cast<float*>(task.scratch);
                             if (attrs.fault != "scratch") *scratch = 0;
                             for (std::int64_t i = range.begin; i < range.end; ++i) {
                               float sum = *scratch;
                               for (std::size_t k = 0; k < sizes.size(); ++k)
                                 sum += args.in(k)[i % sizes[k]];
                               if (attrs.workspace > 0) sum += args.work()[i % attrs.workspace];
                               for (std::size_t j = 0; j < args.outputs.size(); ++j) {
                                 args.out(j)[i] =
                                     attrs.view ? sum : sum / 2 + static_cast<float>(j);
                               }
                             }
                           }});
  return kernel;
}

}  // namespace

cpu::CpuBackend fake_backend(int threads) {
  cpu::Registry registry;
  registry.add(FakeOp::kName, prepare);
  return cpu::CpuBackend(std::move(registry), std::make_shared<ThreadTeam>(threads));
}

PreparedFake prepare_fake(cpu::CpuBackend& backend, Graph graph, const PlanOptions& options,
                          std::vector<std::vector<float>>& external) {
  PreparedFake prepared{{}, backend.prepare(std::move(graph), options)};
  for (std::size_t s = 0; s < kStorages; ++s) {
    const std::size_t bytes = prepared->plan().bytes[s];
    std::shared_ptr<Buffer>& buffer = prepared.memory.buffers[s];
    buffer = backend.allocate(bytes);
    if (bytes > 0) std::memset(buffer->data(), 0xFF, bytes);
  }
  prepared->attach(prepared.memory);
  for (std::size_t slot = 0; slot < external.size(); ++slot) {
    prepared->bind(slot, external[slot].data());
  }
  return prepared;
}

}  // namespace linnet::testing
