// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "plan/passes/passes.h"

namespace linnet {

// Gradients of weights may live in the arena, each from where it is found to the update: where late
// layers have the most weights and early ones the largest activations, that memory is used twice.

/// The passes' names, for disabled_passes.
inline constexpr std::string_view kCollectGradients = "collect_gradients";
inline constexpr std::string_view kDeferGradients = "defer_gradients";

/// A gradient, and where it begins in the flat array of all of them, in bytes.
struct PlacedGradient {
  Value gradient;
  std::size_t offset = 0;
  std::string name = {};  ///< the parameter's
};

/// Returns whether gradients of `bytes` bytes are worth it and the backend can: nearly all of them
/// must be found, since the update reads zeros elsewhere.
bool can_collect_gradients(const Graph& graph, std::span<const PlacedGradient> gradients,
                           std::size_t bytes, const Supports& supports);

/// Adds a collect of these gradients, which passes keep until somebody takes it.
void collect_gradients(Graph& graph, std::span<const PlacedGradient> gradients, std::size_t bytes);

/// Returns the array of all gradients, which lies in the arena from here on; empty: the graph
/// collects none.
Value take_collected_gradients(Graph& graph);

/// Returns whether it does.
bool collects_gradients(const Graph& graph);

/// Moves products that give gradients of weights from where most memory is in use to the end of the
/// backward pass, as long as their operands are smaller than they. The graph must collect its
/// gradients.
void defer_gradients(Graph& graph);

}  // namespace linnet
