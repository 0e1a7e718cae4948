// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/kernel.h"

#include <utility>

#include "backend/cpu/products/rounded_operands.h"
#include "backend/cpu/stored.h"
#include "base/check.h"
#include "core/align.h"

namespace linnet::cpu {
namespace {

/// Keeps what is packed only from weights that stay.
std::optional<Kernel> settled(const NodeView& node, std::optional<Kernel> kernel) {
  if (!kernel) return kernel;
  const std::vector<std::size_t>& packed = kernel->packed_operands;
  LINNET_ASSERT(kernel->packing.empty() == packed.empty());
  const bool fixed =
      std::all_of(packed.begin(), packed.end(), [&](std::size_t i) { return node.fixed(i); });
  return fixed ? std::move(kernel) : packed_in_each_run(std::move(*kernel));
}

}  // namespace

Kernel packed_in_each_run(Kernel kernel) {
  if (kernel.packing.empty()) return kernel;
  const std::size_t at = align_up(kernel.workspace_bytes);
  /// Calls `run` with what is packed in the workspace.
  const auto from_workspace = [at](auto run) {
    return [at, run = std::move(run)](const Args& args, const auto&... task) {
      Args inner = args;
      inner.packed = args.workspace + at;
      run(inner, task...);
    };
  };
  std::vector<Stage> stages;
  for (std::vector<Stage>* part : {&kernel.packing, &kernel.stages}) {
    for (Stage& stage : *part) {
      stages.push_back({stage.tasks, from_workspace(std::move(stage.run))});
      if (stage.by_sample == nullptr) continue;
      SampleStage by_sample = *stage.by_sample;
      by_sample.run = from_workspace(std::move(by_sample.run));
      stages.back().by_sample = std::make_shared<const SampleStage>(std::move(by_sample));
    }
  }
  kernel.early_stages = kernel.packing.size();
  kernel.early_operands = std::exchange(kernel.packed_operands, {});
  kernel.packing.clear();
  kernel.stages = std::move(stages);
  kernel.workspace_bytes = at + std::exchange(kernel.packed_bytes, 0);
  return kernel;
}

void Registry::add(std::string_view op, Prepare prepare, Stores stores) {
  kernels_[std::string(op)] = {.kernels = prepare, .stores = stores};
}

void Registry::add_product(std::string_view op, Prepare prepare, Prepare native, Stores stores) {
  kernels_[std::string(op)] = {.kernels = prepare,
                               .product = true,
                               .native = native,
                               .stores = stores};
}

void Registry::add_product(std::string_view op, Candidates candidates, Prepare native,
                           Stores stores) {
  kernels_[std::string(op)] = {.kernels = candidates,
                               .product = true,
                               .native = native,
                               .stores = stores};
}

std::optional<Kernel> Registry::Entry::prepare(const NodeView& node, const Choose& choose) const {
  if (const Prepare* only = std::get_if<Prepare>(&kernels)) return settled(node, (*only)(node));
  std::vector<Candidate> candidates = std::get<Candidates>(kernels)(node);
  for (Candidate& candidate : candidates) {
    candidate.prepare = [&node, prepare = std::move(candidate.prepare)] {
      return settled(node, prepare());
    };
  }
  return choose(node, candidates);
}

std::optional<Kernel> Registry::prepare(const NodeView& node, Products products,
                                        const Choose& choose) const {
  const auto found = kernels_.find(std::string(node.op.kernels()));
  if (found == kernels_.end()) return std::nullopt;
  const Entry& entry = found->second;
  const bool stored = stores_bf16(node);
  if ((stored && (products != Products::bf16_native || entry.stores == Stores::f32)) ||
      stores(node, DType::f16)) {
    return std::nullopt;
  }
  if (products == Products::fp32 || !entry.product) return entry.prepare(node, choose);
  const auto named = [](Kernel kernel, Bf16Unit unit) {
    const std::string chosen = kernel.engine.empty() ? "" : "; " + kernel.engine;
    kernel.engine = "bf16: " + std::string(to_string(unit)) + chosen;
    return kernel;
  };
  if (products == Products::bf16_native && entry.native != nullptr) {
    std::optional<Kernel> kernel = settled(node, entry.native(node));
    if (kernel) return named(std::move(*kernel), bf16_unit());
  }
  if (stored) return std::nullopt;
  std::optional<Kernel> kernel = entry.prepare(node, choose);
  if (!kernel || kernel->engine == kFp32Alone) return std::nullopt;
  return named(with_rounded_operands(node, std::move(*kernel), {kFirst, kSecond}, KeptAs::f32),
               Bf16Unit::none);
}

}  // namespace linnet::cpu
