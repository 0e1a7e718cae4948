// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "nn/definition.h"
#include "plan/passes/passes.h"

namespace linnet {

/// Holds a language model's network over a single step, whose attentions keep their keys and values
/// in caches. External slots: the id i32 (1, 1), its position i32 (1), the logits f32 (1, 1, V),
/// then the caches.
struct GenerationGraph {
  Graph graph;
  std::vector<std::size_t> cache_bytes;
};

/// Returns nothing where the network has layers that look at other steps in other ways than causal
/// attention does.
std::optional<GenerationGraph> generation_graph(const NetworkDefinition& network,
                                                const Supports& supports);

}  // namespace linnet
