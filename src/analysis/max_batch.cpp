// SPDX-License-Identifier: Apache-2.0
#include <linnet/inspect.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "model/model_state.h"
#include "model/shards.h"
#include "model/step_graph.h"
#include "train/memory_plan.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostBatch = std::int64_t{1} << 30;

/// The search for the largest batch: what a batch needs, planned once for each size of its leaves.
class Search {
 public:
  Search(const NetworkDefinition& network, const MaxBatchOptions& limit,
         const TrainingOptions& options, Backend& backend)
      : network_(network), limit_(limit), options_(options), backend_(backend) {
    options_.recompute = options.recompute || limit.recompute;
  }

  MaxBatch run() {
    MaxBatch found;
    std::int64_t good = 0;
    std::int64_t bad = 1;
    while (bad <= kMostBatch && fits(bad, found)) {
      good = bad;
      bad *= 2;
    }
    if (good == 0) found.memory = memory_of(1, 1, 1);
    found.unbounded = good == kMostBatch;
    while (!found.unbounded && bad - good > 1) {
      const std::int64_t middle = good + (bad - good) / 2;
      (fits(middle, found) ? good : bad) = middle;
    }
    return found;
  }

 private:
  /// Remembers a batch that fits.
  bool fits(std::int64_t batch, MaxBatch& found) {
    const std::int64_t most = limit_.training && limit_.shards ? kMostShards : 1;
    for (std::int64_t shards = 1; shards <= most && shards < 2 * batch; shards *= 2) {
      const std::int64_t shard = (batch - 1) / shards + 1;
      if (shard >= too_large_) continue;
      const MemoryPlan memory = memory_of(shard, batch, shards);
      if (memory.total() - memory.data > limit_.memory_limit) too_large_ = shard;
      if (memory.total() > limit_.memory_limit) continue;
      found.batch = batch;
      found.memory = memory;
      return true;
    }
    return false;
  }

  /// What a shard needs follows from its rows alone, and the room for sums from the shards.
  MemoryPlan memory_of(std::int64_t shard, std::int64_t batch, std::int64_t shards) {
    const std::int64_t planned = std::min<std::int64_t>(shards, 2);
    const auto [known, is_new] = known_.try_emplace({shard, planned});
    if (is_new) {
      known->second = limit_.training
                          ? training_memory(network_, shard * planned, planned, options_, backend_)
                          : prediction_memory(network_, shard, options_.loss, backend_);
    }
    MemoryPlan memory = known->second;
    if (shards > 1) memory.gradients = sums_bytes(network_, shards);
    memory.shards = shards;
    const std::size_t sample = memory.data / static_cast<std::size_t>(shard * planned);
    memory.data = sample * static_cast<std::size_t>(limit_.stream ? shard : batch);
    return memory;
  }

  const NetworkDefinition& network_;
  const MaxBatchOptions& limit_;
  TrainingOptions options_;
  Backend& backend_;
  std::int64_t too_large_ =
      kMostBatch * 2;  ///< rows of a shard that do not fit, without their data
  std::map<std::pair<std::int64_t, std::int64_t>, MemoryPlan> known_;  ///< by rows; 1: no shards
};

}  // namespace

MaxBatch max_batch(const Network& network, const MaxBatchOptions& limit,
                   const TrainingOptions& options, const ModelOptions& on) {
  require(limit.memory_limit > 0, "expected a memory limit of at least 1 byte; got 0");
  const auto backend = open_backend(on);
  const NetworkDefinition planned = laid_out_for(network.definition(), backend->capabilities().f64);
  return Search(planned, limit, options, *backend).run();
}

}  // namespace linnet
