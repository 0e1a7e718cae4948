// SPDX-License-Identifier: Apache-2.0
#include "train/sharded_steps.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "model/loss_shares.h"
#include "train/recipes.h"

namespace linnet {

ShardedSteps::ShardedSteps(Session& session, ModelState& model, const std::string& key,
                           const StepData& data, const TrainingStep& step,
                           std::shared_ptr<TrainingMemory> memory, std::uint64_t most,
                           std::size_t lanes, bool shuffle, const Ranks& ranks)
    : model_(model), data_(data), shuffle_(shuffle) {
  LINNET_ASSERT(most > 0);
  const SumPlace place{session, model, key, memory};
  const auto own = most / static_cast<std::uint64_t>(ranks.size());
  LINNET_ASSERT(lanes == 1 || lanes == own);
  own_ = lanes > 1 ? sum_lanes(place, lanes) : sum_in_order(place, own);
  if (step.overlap_sums) {
    ranks_ = sum_in_buckets(place, ranks, gradient_buckets(model.definition(), step.bucket_bytes));
  } else if (ranks.size() > 1) {
    ranks_ = model.backend->links() != nullptr ? sum_over_links(place, *own_, ranks, own)
                                               : sum_on_hosts(place, *own_, ranks);
  }
  if (step.sync_norms) norms_ = std::make_unique<NormSums>(memory->exchange, lanes, ranks);
  finish_ = session.add_program(finish_recipe(key, model, data, step, std::move(memory)));
}

std::vector<ShardRows> ShardedSteps::told(std::span<const ShardRows> shards) const {
  std::vector<ShardRows> told(shards.begin(), shards.end());
  std::vector<std::array<double, kShares>> found;
  std::array<double, kShares> all{};
  std::uint64_t rows = 0;
  for (ShardRows& shard : told) {
    shard.step.first_row = rows;
    rows += shard.rows;
    found.push_back(denominators(data_, shard.step, shard.rows, shuffle_));
    for (std::size_t s = 0; s < kShares; ++s) all[s] += found.back()[s];
  }
  for (std::size_t i = 0; i < told.size(); ++i) {
    for (std::size_t s = 0; s < kShares; ++s) {
      told[i].step.shares[s] = all[s] > 0 ? static_cast<float>(found[i][s] / all[s]) : 0;
    }
  }
  return told;
}

void ShardedSteps::run(std::span<const ShardRows> shards, const AddShards& add) {
  const std::vector<ShardRows> told = this->told(shards);
  Program& finish = *finish_->program;
  try {
    if (ranks_ != nullptr && ranks_->join(queue_, told, add, finish)) return;
  } catch (...) {
    queue_ = {};
    throw;
  }
  queue_sum(told, add);
  ++model_.weights_version;
  queue_.add(finish, shards.front().step);
  if (ranks_ != nullptr) return queue_.run();
  queue_.run_some();
}

void ShardedSteps::finish_queue() {
  if (ranks_ != nullptr) ranks_->run_joined();
  queue_.run();
}

void ShardedSteps::add_up(std::span<const ShardRows> shards, const AddShards& add) {
  queue_sum(told(shards), add);
  queue_.run();
}

void ShardedSteps::queue_sum(std::span<const ShardRows> told, const AddShards& add) {
  try {
    const NormSums::Step norms = norms_ ? norms_->begin(told.front().step) : nullptr;
    if (ranks_ != nullptr) {
      ranks_->sum(queue_, told, add);
    } else {
      own_->enqueue(queue_, told, add);
      if (norms != nullptr) queue_.run();
    }
  } catch (...) {
    queue_ = {};
    throw;
  }
}

double ShardedSteps::predicted_seconds(const DeviceRates& rates) const {
  return linnet::predicted_seconds(finish_->program->plan(), rates) +
         own_->predicted_seconds(rates);
}

}  // namespace linnet
