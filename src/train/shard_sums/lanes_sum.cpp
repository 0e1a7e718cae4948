// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.h"
#include "model/shard_layout.h"
#include "train/recipes.h"
#include "train/shard_sums/own_sum.h"
#include "train/sharding.h"

namespace linnet {
namespace {

/// Every lane has a place for what its shard leaves; one program sums all of them.
class LanesSum final : public OwnSum {
 public:
  LanesSum(const SumPlace& place, std::size_t lanes)
      : memory_(place.memory),
        layout_(place.model.definition()),
        add_(place.session.add_program(
            add_lanes_recipe(place.key, place.model, lanes, place.memory))) {}

  bool enqueue(ProgramQueue& queue, std::span<const ShardRows> own, const AddShards& add) override {
    add(queue, 0, own);
    for (std::size_t lane = 0; lane < own.size(); ++lane) {
      if (own[lane].rows > 0) continue;
      queue.run();  // of which a step before has used the place
      std::byte* const begin = memory_->gradients->data() + lane * layout_.level(0);
      if (layout_.number_bytes == sizeof(double)) {
        std::fill_n(reinterpret_cast<double*>(begin), layout_.bytes / sizeof(double), -0.0);
      } else {
        std::fill_n(reinterpret_cast<float*>(begin), layout_.bytes / sizeof(float), kNeutral);
      }
      std::fill_n(reinterpret_cast<double*>(begin + layout_.counters), kCounters, -0.0);
    }
    queue.add(*add_->program, own.front().step);
    return has_rows(own, 0, own.size());
  }

  double predicted_seconds(const DeviceRates& rates) const override {
    return linnet::predicted_seconds(add_->program->plan(), rates);
  }

 private:
  std::shared_ptr<TrainingMemory> memory_;
  ShardLayout layout_;
  CachedProgram* add_;
};

}  // namespace

std::unique_ptr<OwnSum> sum_lanes(const SumPlace& place, std::size_t lanes) {
  return std::make_unique<LanesSum>(place, lanes);
}

}  // namespace linnet
