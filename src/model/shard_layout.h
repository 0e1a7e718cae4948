// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "nn/definition.h"
#include "plan/passes/overlap_sums.h"

namespace linnet {

// A step consists of shards, each from the gather to the backward pass over neighbouring rows of a
// batch, and of a finish, which updates. A shard changes no state: what it found lies in
// Storage::gradient.

/// Where a shard leaves what it found, as offsets in bytes in Storage::gradient: gradients laid out
/// as the weights, then statistics of the batch laid out as the running ones, once for each time
/// that a norm is applied, then its counters (f64). All of that is summed over the shards: what
/// `bytes` counts as one array of numbers, and the counters.
struct ShardLayout {
  /// collected: the gradients lie in the arena instead (collect_gradients).
  explicit ShardLayout(const NetworkDefinition& network, bool collected = false);
  /// Room for a sum of shards that waits for its sibling in the tree, after the shard's own.
  std::size_t level(std::size_t level) const { return (level + 1) * (measured + statistics_bytes); }

  std::size_t number_bytes = 0;      ///< of an element, NetworkDefinition::numbers
  std::size_t statistics_bytes = 0;  ///< of all applications
  std::size_t statistics = 0;
  std::size_t bytes = 0;
  std::size_t counters = 0;  ///< f64, kCounters; see ShardMetricsOp
  std::size_t measured = 0;  ///< statistics before the shard's share
};

/// Cuts the gradients of a shard into buckets of neighbouring parameters, the last parameters
/// first, since a backward pass ends with the first ones. Each has at least so many bytes, but for
/// the first parameters', and ends where a parameter does.
std::vector<Bucket> gradient_buckets(const NetworkDefinition& network, std::size_t bytes);

/// Statistics of a batch that a step found, and what their running ones take of it.
struct MeasuredStatistics {
  std::size_t application = 0;  ///< how often the same norm was applied before
  std::int64_t begin = 0;       ///< elements of the running statistics
  std::int64_t end = 0;
  double momentum = 0.1;
};

/// Lets the batch norms of a graph leave their batch's statistics at `place` (one of the layout's)
/// instead of changing the running ones. `network`: the whole one.
std::vector<MeasuredStatistics> measure_statistics(Graph& graph, const NetworkDefinition& network,
                                                   std::size_t place);

/// Returns whether the network has a batch norm.
bool has_batch_norms(const NetworkDefinition& network);

/// Lets the batch norms of a forward graph, and so their gradients, take the whole batch's
/// statistics.
void sync_norms(Graph& graph);

/// Multiplies measured statistics with the shard's share of the batch's rows, into their place.
void share_statistics(Graph& graph, const ShardLayout& layout);

}  // namespace linnet
