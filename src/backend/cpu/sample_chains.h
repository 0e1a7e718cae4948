// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/kernel.h"
#include "plan/plan.h"

namespace linnet::cpu {

/// Nodes that compute a batch sample by sample (SampleStage) from each other's results, so that all
/// of them may compute a few samples before any computes the next ones. What passes between them
/// stays in a core's cache then, and there is one stage to wait for. Nodes between them that need
/// all samples, such as weight gradients, run after the chain, as do other stages of its own.
struct SampleChain {
  std::vector<std::size_t> nodes;  ///< that run, two at least
  std::int64_t samples = 0;
  std::int64_t block = 0;  ///< samples that all nodes compute before the next ones

  Together together() const { return {nodes.front(), nodes.back()}; }
  int parts() const { return sample_parts(samples); }
};

/// Finds the chains of a graph, whose kernels stand by node.
std::vector<SampleChain> find_sample_chains(const Graph& graph, const std::vector<Kernel>& kernels);

/// Returns the stage of a kernel that runs in chains, or null.
const Stage* sample_stage_of(const Kernel& kernel);

}  // namespace linnet::cpu
