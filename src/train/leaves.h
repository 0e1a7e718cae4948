// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/ranks.h>
#include <linnet/trainer.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/leaf.h"
#include "model/session.h"
#include "model/shards.h"

namespace linnet {

/// Returns the shards of this rank where so many are asked for; 0: one for each rank. Throws Error
/// where there are fewer than ranks.
Shards own_shards(std::int64_t asked, const Ranks& ranks);

/// Returns how many leaves of a rank run at the same time: all of its own, or one. Throws Error
/// where TrainerOptions::side_by_side asks for what the device cannot do.
std::size_t lanes_of(const ModelState& model, const Shards& shards, const TrainerOptions& options);

/// Returns whether leaves run one after the other and may leave what they find where a sum waits
/// for its sibling (ProgramRecipe::apart), `leaves` of them in a step of this process; on the CPU.
bool leaves_apart(const ModelState& model, std::size_t lanes, std::uint64_t leaves);

/// Returns the slots of a ring that holds a leaf in each: so many are read ahead.
constexpr std::int64_t slots_of(std::int64_t prefetch, std::size_t lanes) {
  return prefetch + static_cast<std::int64_t>(lanes) - 1;
}

/// Returns where the leaf of a rank hands gradients over that are found (TrainingStep::handover);
/// null where it computes several leaves, whose sum it has only at the end, where all gradients are
/// one bucket, and on a device.
std::shared_ptr<SumHandover> handover_of(const TrainingMemory& memory, const ModelState& model,
                                         const Shards& shards, const TrainerOptions& options);

/// Returns who sums the statistics of batch norms (TrainingStep::norms); null unless
/// TrainerOptions::sync_batch_norm asks for it, there are norms, and several leaves. Throws Error
/// where these are not computed at the same time, or one has no rows of a batch of such a size.
std::shared_ptr<NormSync> norm_sync_of(const TrainingMemory& memory, const ModelState& model,
                                       const Shards& shards, const TrainerOptions& options,
                                       std::int64_t samples, std::int64_t batch);

/// Returns the leaves of a batch, which `batch` describes.
std::vector<LeafRows> shards_of(const LeafRows& batch, const Shards& shards);

/// Returns whether any of `count` leaves from `first` on is there and has rows.
bool has_rows(std::span<const LeafRows> leaves, std::size_t first, std::size_t count);

/// Returns the leaves that this rank computes, of those of all ranks.
std::span<const LeafRows> own_leaves(std::span<const LeafRows> leaves, const Ranks& ranks);

}  // namespace linnet
