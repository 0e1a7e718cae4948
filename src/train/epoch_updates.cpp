// SPDX-License-Identifier: Apache-2.0
#include "train/epoch_updates.h"

#include <algorithm>

namespace linnet {

std::vector<LeafRows> EpochUpdates::batches_of(const StepInfo& first, std::uint64_t update) const {
  std::vector<LeafRows> rows;
  const std::uint64_t begin = update * batches;
  const std::uint64_t end = begin + std::min(batches, pass->steps() - begin);
  for (std::uint64_t b = begin; b < end; ++b) {
    LeafRows batch{.step = first.after(update, 0),
                   .rows = std::min(pass->batch, pass->samples - b * pass->batch)};
    batch.step.position += b * pass->batch;
    rows.push_back(batch);
  }
  return rows;
}

void EpochUpdates::run(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const {
  if (tree == nullptr) return pass->run(first, begin, end);
  for (std::uint64_t update = begin; update < end; ++update) {
    tree->run(batches_of(first, update), [&](std::size_t leaf, const LeafRows& rows) {
      pass->run_leaf(first, update * batches + leaf, rows.step);
    });
  }
}

void EpochUpdates::explain(const StepInfo& first, NotFinite& found) const {
  if (found.step < first.step || found.step - first.step >= count()) return;
  std::vector<LeafRows> rows = batches_of(first, found.step - first.step);
  if (tree != nullptr) rows = tree->leaves_of(rows);
  for (const LeafRows& batch : rows) {
    found.where = pass->first_not_finite(batch.step, batch.rows);
    if (!found.where.empty()) return;
  }
}

}  // namespace linnet
