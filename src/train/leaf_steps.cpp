// SPDX-License-Identifier: Apache-2.0
#include "train/leaf_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "dist/rank_group.h"
#include "model/loss_shares.h"
#include "train/recipes.h"

namespace linnet {
namespace {

std::size_t levels_of(std::size_t leaves) {
  return static_cast<std::size_t>(std::bit_width(leaves - 1));
}

bool has_rows(std::span<const LeafRows> leaves, std::size_t first, std::size_t count) {
  if (first >= leaves.size()) return false;
  const auto part = leaves.subspan(first, std::min(count, leaves.size() - first));
  return std::ranges::any_of(part, [](const LeafRows& leaf) { return leaf.rows > 0; });
}

}  // namespace

Shards own_shards(std::int64_t asked, const Ranks& ranks) {
  require(asked == 0 || asked >= ranks.size(),
          "expected at least as many shards as ranks, {}; got {}", ranks.size(), asked);
  return shards_of_rank(asked > 0 ? asked : ranks.size(), ranks.rank(), ranks.size());
}

std::vector<LeafRows> shards_of(const LeafRows& batch, const Shards& shards) {
  std::vector<LeafRows> leaves(shards.count, batch);
  for (std::uint64_t s = 0; s < shards.count; ++s) {
    leaves[s].step.position += shards.begin(s, batch.rows);
    leaves[s].rows = shards.size(s, batch.rows);
  }
  return leaves;
}

LeafSteps::LeafSteps(Session& session, ModelState& model, const std::string& key,
                     const StepData& data, const TrainingStep& step,
                     std::shared_ptr<TrainingMemory> memory, std::uint64_t most, bool shuffle,
                     const Ranks& ranks)
    : model_(model),
      data_(data),
      shuffle_(shuffle),
      memory_(memory),
      ranks_(ranks),
      layout_(model.definition()) {
  LINNET_ASSERT(most > 0);
  const auto own = most / static_cast<std::uint64_t>(ranks.size());
  for (std::size_t level = 0; level < levels_of(own); ++level) {
    keep_.push_back(session.add_program(keep_recipe(key, model, level, memory)));
    add_.push_back(session.add_program(add_recipe(key, model, level, memory)));
  }
  finish_ = session.add_program(finish_recipe(key, model, data, step, memory));
}

std::vector<LeafRows> LeafSteps::told(std::span<const LeafRows> leaves) const {
  std::vector<LeafRows> told(leaves.begin(), leaves.end());
  std::vector<std::array<double, kShares>> found;
  std::array<double, kShares> all{};
  std::uint64_t rows = 0;
  for (LeafRows& leaf : told) {
    leaf.step.first_row = rows;
    rows += leaf.rows;
    found.push_back(denominators(data_, leaf.step, leaf.rows, shuffle_));
    for (std::size_t s = 0; s < kShares; ++s) all[s] += found.back()[s];
  }
  for (std::size_t i = 0; i < told.size(); ++i) {
    for (std::size_t s = 0; s < kShares; ++s) {
      told[i].step.shares[s] = all[s] > 0 ? static_cast<float>(found[i][s] / all[s]) : 0;
    }
  }
  return told;
}

void LeafSteps::run(std::span<const LeafRows> leaves, const RunLeaf& run) {
  add_up(leaves, run);
  ++model_.weights_version;
  finish_->program->run(leaves.front().step, 1, 0);
}

void LeafSteps::add_up(std::span<const LeafRows> leaves, const RunLeaf& run) {
  const std::vector<LeafRows> told = this->told(leaves);
  const auto ranks = static_cast<std::size_t>(ranks_.size());
  if (ranks == 1) {
    sum(told, 0, levels_of(leaves.size()), run);
    return;
  }
  const std::size_t own = told.size() / ranks;
  const std::size_t first = own * static_cast<std::size_t>(ranks_.rank());
  const bool any = sum(told, first, levels_of(own),
                       [&](std::size_t leaf, const LeafRows& rows) { run(leaf - first, rows); });
  add_ranks(told.front().step, !any);
}

void LeafSteps::add_ranks(const StepInfo& step, bool empty) {
  const Backend& backend = *model_.backend;
  Buffer& buffer = *memory_->gradients;
  const std::string name = fmt::format("the sum of gradients at step {}", step.step);
  const std::size_t count = layout_.bytes / sizeof(float);
  std::array<double, kCounters> counters{};
  const auto counter_bytes = std::as_writable_bytes(std::span(counters));
  const bool on_host = backend.threads() > 0;
  if (!on_host) sums_.resize(count);
  const std::span<float> sums =
      on_host ? std::span(reinterpret_cast<float*>(buffer.data()), count) : std::span(sums_);
  if (empty) {
    std::ranges::fill(sums, -0.0F);  // which changes no bit of what it is added to
  } else {
    if (!on_host) backend.download(buffer, 0, std::as_writable_bytes(sums));
    backend.download(buffer, layout_.counters, counter_bytes);
  }
  RankGroup& ranks = *RankAccess::group(ranks_);
  ranks.sum(sums, name);
  ranks.sum(std::span<double>(counters), name);
  if (!on_host) backend.upload(buffer, 0, std::as_bytes(sums));
  backend.upload(buffer, layout_.counters, counter_bytes);
}

bool LeafSteps::sum(std::span<const LeafRows> leaves, std::size_t first, std::size_t level,
                    const RunLeaf& run) {
  if (first >= leaves.size()) return false;
  if (level == 0) {
    run(first, leaves[first]);
    return leaves[first].rows > 0;
  }
  const std::size_t half = std::size_t{1} << (level - 1);
  const StepInfo& step = leaves[first].step;
  const bool both = sum(leaves, first, level - 1, run) && has_rows(leaves, first + half, half);
  if (both) keep_[level - 1]->program->run(step, 1, 0);
  const bool right = sum(leaves, first + half, level - 1, run);
  if (both) add_[level - 1]->program->run(step, 1, 0);
  return both || right || has_rows(leaves, first, half);
}

}  // namespace linnet
