// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/cpu_backend.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "backend/cpu/batch_stream.h"
#include "backend/cpu/cpu_program.h"
#include "backend/cpu/memory.h"
#include "backend/cpu/sample_chains.h"
#include "backend/cpu/shared_stages.h"
#include "backend/cpu/widen.h"
#include "base/check.h"
#include "base/instructions.h"
#include "runtime/prepare.h"

namespace linnet::cpu {

CpuBackend::CpuBackend(Registry registry, std::shared_ptr<ThreadTeam> team, Products products,
                       const CpuOptions& options, Numbers numbers)
    : registry_(std::move(registry)),
      products_(products),
      numbers_(numbers),
      team_(std::move(team)),
      tuner_(options, products, team_) {
  check_vector_instructions();
}

namespace {

/// Takes any candidate, first those that never call oneDNN: a question must not open its library.
std::optional<Kernel> any_candidate(const NodeView& /*node*/,
                                    const std::vector<Candidate>& candidates) {
  constexpr std::array<std::string_view, 4> kOwn{"direct", "winograd", "depthwise", "thin"};
  for (const bool own : {true, false}) {
    for (const Candidate& candidate : candidates) {
      if ((std::ranges::find(kOwn, candidate.engine) != kOwn.end()) != own) continue;
      if (std::optional<Kernel> kernel = candidate.prepare()) return kernel;
    }
  }
  return std::nullopt;
}

/// Plans again with the memory of nodes apart that would share stages: as many of them as cost at
/// most a 64th of all memory.
void keep_apart(Plan& plan, const std::vector<Kernel>& kernels, PlanOptions& options) {
  const auto arena = [&] { return plan.bytes[static_cast<std::size_t>(Storage::arena)]; };
  const std::size_t before = arena();
  const std::size_t most = plan.total_bytes() + plan.total_bytes() / 64;
  // Offsets leave gaps: where all of the arena is in use, some of it is too little.
  for (const std::size_t sixteenths : {16, 15, 14, 12}) {
    options.kept = find_kept(plan, kernels, before / 16 * sixteenths);
    if (options.kept.empty()) return;
    plan = plan_for(std::move(plan.graph), kernels, options);
    if (plan.total_bytes() <= most) return;
    options.kept.clear();
    plan = plan_for(std::move(plan.graph), kernels, options);
  }
}

}  // namespace

bool CpuBackend::supports(const Op& op, std::span<const ValueType> inputs,
                          std::span<const ValueType> outputs) const {
  return op.is_view() ||
         registry_
             .prepare({op, inputs, outputs, std::vector<bool>(outputs.size(), true)}, products_,
                      any_candidate)
             .has_value();
}

bool CpuBackend::wants(const Op& op, std::span<const ValueType> inputs,
                       std::span<const ValueType> outputs) const {
  return supports(op, inputs, outputs) && registry_.wants({op, inputs, outputs, {}});
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
  from.read(offset, to);
}

std::unique_ptr<BatchStream> CpuBackend::stream_batches(const BatchLayout& layout) const {
  return std::make_unique<HostBatchStream>(layout);
}

std::unique_ptr<Program> CpuBackend::prepare(Graph graph, const PlanOptions& options) {
  if (numbers_ == Numbers::f64) widen(graph);
  const Choose choose = [&](const NodeView& node, const std::vector<Candidate>& candidates) {
    return tuner_.choose(node, candidates);
  };
  std::vector<Kernel> kernels = prepare_kernels<Kernel>(
      graph, numbers_ == Numbers::f64 ? "the CPU in fp64" : "the CPU",
      [&](const NodeView& node) { return registry_.prepare(node, products_, choose); },
      options.fixed_weights && numbers_ == Numbers::f32);
  const std::string unsaved = tuner_.save();
  std::vector<SampleChain> chains;
  if (options.chains) chains = find_sample_chains(graph, kernels);
  PlanOptions planned = options;
  for (const SampleChain& chain : chains) planned.together.push_back(chain.together());
  Plan plan = plan_for(std::move(graph), kernels, planned);
  if (options.shared_stages && team_->threads() >= kFewestSharing) {
    keep_apart(plan, kernels, planned);
  }
  for (const Kernel& kernel : kernels) plan.engines.push_back(kernel.engine);
  plan.chains.resize(kernels.size());
  for (const SampleChain& chain : chains) {
    for (const std::size_t n : chain.nodes) {
      plan.chains[n] =
          fmt::format("chain of nodes {} to {}, {} samples at a time", chain.nodes.front(),
                      chain.nodes.back(), std::min(chain.block, chain.samples));
    }
  }
  auto program = std::make_unique<CpuProgram>(std::move(plan), std::move(kernels),
                                              std::move(chains), team_, options.shared_stages);
  if (!unsaved.empty()) program->note(unsaved);
  return program;
}

}  // namespace linnet::cpu
