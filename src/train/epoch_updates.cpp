// SPDX-License-Identifier: Apache-2.0
#include "train/epoch_updates.h"

namespace linnet {

std::vector<LeafRows> EpochUpdates::leaves_of(const StepInfo& first, std::uint64_t update) const {
  return shards_of({.step = first.after(update, pass->batch), .rows = pass->rows_of(update)},
                   pass->shards);
}

void EpochUpdates::run(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const {
  if (tree == nullptr) return pass->run(first, begin, end);
  for (std::uint64_t update = begin; update < end; ++update) {
    tree->run(leaves_of(first, update),
              [&](ProgramQueue& queue, std::size_t leaf, std::span<const LeafRows> leaves) {
                pass->add_leaves(queue, first, update, leaf, leaves);
              });
  }
  tree->finish_queue();
}

void EpochUpdates::explain(const StepInfo& first, NotFinite& found) const {
  if (found.step < first.step || found.step - first.step >= pass->steps()) return;
  std::vector<LeafRows> leaves = leaves_of(first, found.step - first.step);
  if (tree != nullptr) leaves = tree->told(leaves);
  for (std::uint64_t shard = pass->shards.first; shard < pass->shards.last; ++shard) {
    const LeafRows& leaf = leaves[shard];
    if (leaf.rows == 0) continue;
    found.where = pass->first_not_finite(leaf.step, leaf.rows);
    if (!found.where.empty()) return;
  }
}

}  // namespace linnet
