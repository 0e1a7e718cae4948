// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "graph/graph.h"

namespace linnet {

/// Bytes [begin, end) of Storage::gradient.
struct Bucket {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The pass's name, for disabled_passes.
inline constexpr std::string_view kOverlapSums = "overlap_sums";

/// Adds an all_reduce for each bucket, where the last of its gradients is written and the buckets
/// before it are handed over: all ranks hand over in this order, whatever their graphs.
void overlap_sums(Graph& graph, std::span<const Bucket> buckets);

}  // namespace linnet
