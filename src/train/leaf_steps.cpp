// SPDX-License-Identifier: Apache-2.0
#include "train/leaf_steps.h"

#include <bit>

#include "base/check.h"
#include "model/loss_shares.h"
#include "train/recipes.h"

namespace linnet {

LeafSteps::LeafSteps(Session& session, ModelState& model, const std::string& key,
                     const StepData& data, const TrainingStep& step,
                     std::shared_ptr<TrainingMemory> memory, std::uint64_t most, bool shuffle)
    : model_(model), data_(data), shuffle_(shuffle) {
  LINNET_ASSERT(most > 0);
  const auto levels = static_cast<std::size_t>(std::bit_width(most - 1));
  for (std::size_t level = 0; level < levels; ++level) {
    keep_.push_back(session.add_program(keep_recipe(key, model, level, memory)));
    add_.push_back(session.add_program(add_recipe(key, model, level, memory)));
  }
  finish_ = session.add_program(finish_recipe(key, model, data, step, memory));
}

std::vector<LeafRows> LeafSteps::leaves_of(std::span<const LeafRows> batches) const {
  std::vector<LeafRows> leaves(batches.begin(), batches.end());
  std::vector<std::array<double, kShares>> found;
  std::array<double, kShares> all{};
  std::uint64_t rows = 0;
  for (LeafRows& leaf : leaves) {
    leaf.step.first_row = rows;
    rows += leaf.rows;
    found.push_back(denominators(data_, leaf.step, leaf.rows, shuffle_));
    for (std::size_t s = 0; s < kShares; ++s) all[s] += found.back()[s];
  }
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    for (std::size_t s = 0; s < kShares; ++s) {
      leaves[i].step.shares[s] = all[s] > 0 ? static_cast<float>(found[i][s] / all[s]) : 0;
    }
  }
  return leaves;
}

void LeafSteps::run(std::span<const LeafRows> batches,
                    const std::function<void(std::size_t leaf, const LeafRows& rows)>& run) {
  const std::vector<LeafRows> leaves = leaves_of(batches);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    run(i, leaves[i]);
    // Levels whose bit of i is set hold sums of leaves before this one.
    std::size_t level = 0;
    for (; (i >> level & 1) != 0; ++level) add_[level]->program->run(leaves[i].step, 1, 0);
    if (i + 1 < leaves.size()) {
      keep_[level]->program->run(leaves[i].step, 1, 0);
      continue;
    }
    for (; level < add_.size(); ++level) {
      if ((i >> level & 1) != 0) add_[level]->program->run(leaves[i].step, 1, 0);
    }
  }
  ++model_.weights_version;
  finish_->program->run(leaves.front().step, 1, 0);
}

}  // namespace linnet
