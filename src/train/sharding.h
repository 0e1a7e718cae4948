// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/ranks.h>
#include <linnet/trainer.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/session.h"
#include "model/shard_layout.h"
#include "model/shards.h"

namespace linnet {

/// Returns the shards of this rank where so many are asked for; 0: one for each rank. Throws Error
/// where there are fewer than ranks.
Shards own_shards(std::int64_t asked, const Ranks& ranks);

/// Returns how many shards of a rank run at the same time: all of its own, or one. Throws Error
/// where TrainerOptions::side_by_side asks for what the device cannot do.
std::size_t lanes_of(const ModelState& model, const Shards& shards, const TrainerOptions& options);

/// Returns whether shards run one after the other and may leave what they find where a sum waits
/// for its sibling (ProgramRecipe::apart), `shards` of them in a step of this process; on the CPU.
bool shards_apart(const ModelState& model, std::size_t lanes, std::uint64_t shards);

/// Returns the slots of a ring that holds a shard in each: so many are read ahead.
constexpr std::int64_t slots_of(std::int64_t prefetch, std::size_t lanes) {
  return prefetch + static_cast<std::int64_t>(lanes) - 1;
}

/// Returns TrainingStep::overlap_sums: not where a rank computes several shards, whose sum it has
/// only at the end, where all gradients are one bucket, or on a device.
bool overlaps_sums(const ModelState& model, const Shards& shards, const TrainerOptions& options);

/// Returns TrainingStep::sync_norms: TrainerOptions::sync_batch_norm asks for it, there are norms,
/// and several shards. Throws Error where these are not computed at the same time, or one has no
/// rows of a batch of such a size.
bool syncs_norms(const ModelState& model, const Shards& shards, const TrainerOptions& options,
                 std::int64_t samples, std::int64_t batch);

/// Returns the shards of a batch, which `batch` describes.
std::vector<ShardRows> shards_of(const ShardRows& batch, const Shards& shards);

/// Returns whether any of `count` shards from `first` on is there and has rows.
bool has_rows(std::span<const ShardRows> shards, std::size_t first, std::size_t count);

/// Returns the shards that this rank computes, of those of all ranks.
std::span<const ShardRows> own_shards(std::span<const ShardRows> shards, const Ranks& ranks);

}  // namespace linnet
