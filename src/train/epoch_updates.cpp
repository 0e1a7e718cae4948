// SPDX-License-Identifier: Apache-2.0
#include "train/epoch_updates.h"

namespace linnet {

std::vector<ShardRows> EpochUpdates::shards_in(const StepInfo& first, std::uint64_t update) const {
  return shards_of({.step = first.after(update, pass->batch), .rows = pass->rows_of(update)},
                   pass->shards);
}

void EpochUpdates::run(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const {
  if (least_squares != nullptr) {
    for (std::uint64_t update = begin; update < end; ++update) {
      least_squares->run(first.after(update, 0));
    }
    return;
  }
  if (tree == nullptr) return pass->run(first, begin, end);
  for (std::uint64_t update = begin; update < end; ++update) {
    tree->run(shards_in(first, update),
              [&](ProgramQueue& queue, std::size_t shard, std::span<const ShardRows> shards) {
                pass->add_shards(queue, first, update, shard, shards);
              });
  }
  tree->finish_queue();
}

void EpochUpdates::explain(const StepInfo& first, NotFinite& found) const {
  if (least_squares != nullptr) return;  // which looks at the loss itself
  if (found.step < first.step || found.step - first.step >= pass->steps()) return;
  std::vector<ShardRows> shards = shards_in(first, found.step - first.step);
  if (tree != nullptr) shards = tree->told(shards);
  for (std::uint64_t shard = pass->shards.first; shard < pass->shards.last; ++shard) {
    const ShardRows& rows = shards[shard];
    if (rows.rows == 0) continue;
    found.where = pass->first_not_finite(rows.step, rows.rows);
    if (!found.where.empty()) return;
  }
}

}  // namespace linnet
