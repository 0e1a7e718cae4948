// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace linnet {

/// How the batch of each step is cut into shards of neighbouring rows, and which of these this
/// process computes: [first, last).
struct Shards {
  std::uint64_t count = 1;
  std::uint64_t first = 0;
  std::uint64_t last = 1;

  constexpr std::uint64_t own() const { return last - first; }
  /// Returns the first row of a shard in a batch of `rows`; of `count`: the rows.
  constexpr std::uint64_t begin(std::uint64_t shard, std::uint64_t rows) const {
    // Without shard * rows, which might not fit.
    return rows / count * shard + rows % count * shard / count;
  }
  /// Returns the rows of a shard, which may be none.
  constexpr std::uint64_t size(std::uint64_t shard, std::uint64_t rows) const {
    return begin(shard + 1, rows) - begin(shard, rows);
  }
  /// Returns the rows of the largest shard.
  constexpr std::uint64_t largest(std::uint64_t rows) const { return (rows - 1) / count + 1; }
};

/// Returns all of so many shards.
constexpr Shards all_shards(std::int64_t count) {
  const auto shards = static_cast<std::uint64_t>(count);
  return {.count = shards, .first = 0, .last = shards};
}

/// Returns those of `count` that a rank of `ranks` computes; both powers of two, ranks <= count.
constexpr Shards shards_of_rank(std::int64_t count, int rank, int ranks) {
  const std::uint64_t own = static_cast<std::uint64_t>(count) / static_cast<std::uint64_t>(ranks);
  const std::uint64_t first = own * static_cast<std::uint64_t>(rank);
  return {.count = static_cast<std::uint64_t>(count), .first = first, .last = first + own};
}

/// As many shards as a batch may have.
inline constexpr std::int64_t kMostShards = 1 << 16;

/// Returns whether a batch may be cut into so many shards.
constexpr bool is_shard_count(std::int64_t count) {
  return count >= 1 && count <= kMostShards &&
         std::has_single_bit(static_cast<std::uint64_t>(count));
}

}  // namespace linnet
