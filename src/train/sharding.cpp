// SPDX-License-Identifier: Apache-2.0
#include "train/sharding.h"

#include <algorithm>

#include "base/check.h"
#include "plan/passes/passes.h"

namespace linnet {

Shards own_shards(std::int64_t asked, const Ranks& ranks) {
  require(asked == 0 || asked >= ranks.size(),
          "expected at least as many shards as ranks, {}; got {}", ranks.size(), asked);
  return shards_of_rank(asked > 0 ? asked : ranks.size(), ranks.rank(), ranks.size());
}

std::size_t lanes_of(const ModelState& model, const Shards& shards, const TrainerOptions& options) {
  if (!options.side_by_side || shards.own() == 1) return 1;
  require(model.backend->capabilities().side_by_side,
          "side_by_side is for the CPU; got the device '{}'", model.backend->name());
  return shards.own();
}

bool shards_apart(const ModelState& model, std::size_t lanes, std::uint64_t shards) {
  return lanes == 1 && shards > 1 && model.backend->capabilities().side_by_side;
}

bool overlaps_sums(const ModelState& model, const Shards& shards, const TrainerOptions& options) {
  return options.ranks.size() > 1 && shards.own() == 1 &&
         model.backend->capabilities().host_memory &&
         !is_disabled(kOverlapSums, options.disabled_passes) &&
         !(options.sync_batch_norm && has_batch_norms(model.definition())) &&
         gradient_buckets(model.definition(), options.bucket_bytes).size() > 1;
}

bool syncs_norms(const ModelState& model, const Shards& shards, const TrainerOptions& options,
                 std::int64_t samples, std::int64_t batch) {
  if (!options.sync_batch_norm || !has_batch_norms(model.definition()) || shards.count == 1) {
    return false;
  }
  const std::int64_t ranks = options.ranks.size();
  require(shards.own() == 1 || options.side_by_side,
          "sync_batch_norm needs all shards of a batch at the same time: one for each rank, or "
          "side_by_side; got {} shards on {} ranks, one after the other",
          shards.count, ranks);
  require(model.backend->capabilities().side_by_side,
          "sync_batch_norm is for the CPU; got the device '{}'", model.backend->name());
  const std::int64_t least = samples % batch == 0 ? batch : std::min(samples, samples % batch);
  require(least >= static_cast<std::int64_t>(shards.count),
          "sync_batch_norm needs a sample of every batch in each of {} shards; a batch has {}: "
          "drop_last leaves out an epoch's last one",
          shards.count, least);
  return true;
}

std::vector<ShardRows> shards_of(const ShardRows& batch, const Shards& shards) {
  std::vector<ShardRows> rows(shards.count, batch);
  for (std::uint64_t s = 0; s < shards.count; ++s) {
    rows[s].step.position += shards.begin(s, batch.rows);
    rows[s].rows = shards.size(s, batch.rows);
  }
  return rows;
}

bool has_rows(std::span<const ShardRows> shards, std::size_t first, std::size_t count) {
  if (first >= shards.size()) return false;
  const auto part = shards.subspan(first, std::min(count, shards.size() - first));
  return std::ranges::any_of(part, [](const ShardRows& shard) { return shard.rows > 0; });
}

std::span<const ShardRows> own_shards(std::span<const ShardRows> shards, const Ranks& ranks) {
  const std::size_t own = shards.size() / static_cast<std::size_t>(ranks.size());
  return shards.subspan(own * static_cast<std::size_t>(ranks.rank()), own);
}

}  // namespace linnet
