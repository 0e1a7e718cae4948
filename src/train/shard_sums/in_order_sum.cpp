// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <vector>

#include "train/recipes.h"
#include "train/shard_sums/own_sum.h"
#include "train/sharding.h"

namespace linnet {
namespace {

/// Walks the tree in order: a sum that waits for its sibling is kept in the room of its level.
class InOrderSum final : public OwnSum {
 public:
  InOrderSum(const SumPlace& place, std::size_t shards)
      : apart_(shards_apart(place.model, 1, shards)) {
    const auto& [session, model, key, memory] = place;
    for (std::size_t level = 0; level < levels_of(shards); ++level) {
      const bool copies = level > 0 || !apart_;
      keep_.push_back(copies ? session.add_program(keep_recipe(key, model, level, memory))
                             : nullptr);
      add_.push_back(session.add_program(add_recipe(key, model, level, memory)));
      if (level + 1 == levels_of(shards)) break;
      add_kept_.push_back(session.add_program(add_kept_recipe(key, model, level, memory)));
    }
  }

  bool enqueue(ProgramQueue& queue, std::span<const ShardRows> own, const AddShards& add) override {
    return sum(queue, own, add, 0, levels_of(own.size()), false);
  }

  double predicted_seconds(const DeviceRates& rates) const override {
    const auto seconds = [&](const CachedProgram* program) {
      return linnet::predicted_seconds(program->program->plan(), rates);
    };
    double total = 0;
    for (std::size_t level = 0; level < add_.size(); ++level) {
      const std::size_t pairs = std::size_t{1} << (add_.size() - 1 - level);
      // A sum is added into its room.
      const double kept = level == 0 && !apart_ ? seconds(keep_[level]) : 0;
      total += static_cast<double>(pairs) * (kept + seconds(add_[level]));
    }
    return total;
  }

 private:
  /// Sums the shards [first, first + 2^level) where there are such; keeps: in the room of that
  /// level. Returns whether any has rows.
  bool sum(ProgramQueue& queue, std::span<const ShardRows> own, const AddShards& add,
           std::size_t first, std::size_t level, bool keeps) {
    if (first >= own.size()) return false;
    const StepInfo& step = own[first].step;
    const std::size_t half = (std::size_t{1} << level) / 2;
    const bool both = has_rows(own, first, half) && has_rows(own, first + half, half);
    if (level == 0) {
      ShardRows shard = own[first];
      shard.apart = apart_ && keeps;
      add(queue, first, std::span(&shard, 1));
      queue.run_some();
      if (shard.apart) return shard.rows > 0;
    } else {
      sum(queue, own, add, first, level - 1, both);
      sum(queue, own, add, first + half, level - 1, false);
    }
    const bool any = has_rows(own, first, std::size_t{1} << level);
    if (both) {
      queue.add(*(keeps ? add_kept_ : add_)[level - 1]->program, step);
    } else if (keeps && any) {
      queue.add(*keep_[level]->program, step);
    }
    return any;
  }

  bool apart_;                        ///< shards_apart()
  std::vector<CachedProgram*> keep_;  ///< by level; shards may need none
  std::vector<CachedProgram*> add_;
  std::vector<CachedProgram*> add_kept_;
};

}  // namespace

std::size_t levels_of(std::size_t shards) {
  return static_cast<std::size_t>(std::bit_width(shards - 1));
}

std::unique_ptr<OwnSum> sum_in_order(const SumPlace& place, std::size_t shards) {
  return std::make_unique<InOrderSum>(place, shards);
}

}  // namespace linnet
