// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/session.h"
#include "train/not_finite.h"
#include "train/sharded_steps.h"
#include "train/sharding.h"

namespace linnet {

struct ObjectiveState;
struct TrainerState;

/// Samples of an epoch in batches of this size.
std::int64_t epoch_samples(const Dataset& data, const BatchOptions& options);

/// Steps on batches of one data set, of one size, one call at a time.
class Stepper {
 public:
  /// batches: the most of a step; an epoch has as many steps as are needed so.
  Stepper(TrainerState& trainer, ObjectiveState& objective, const Batch& batch,
          std::int64_t batches);

  /// Returns whether the stepper is one for steps over so many batches like this one.
  bool takes(const Batch& batch, std::int64_t batches) const;
  bool ends_epoch(const Batch& batch) const;
  /// One step of the optimizer over these batches.
  void step(std::span<const Batch> batches);
  /// Gradients of the weights that train. Changes nothing else. Waits.
  State gradients(const Batch& batch);
  /// Returns the loss of the last gradients().
  double loss() const { return loss_; }

  /// Adds the epoch and the operator to a step of this stepper's, which is repeated. Only the
  /// newest kRemembered steps are known.
  void explain(NotFinite& found);
  /// Steps from this one on.
  std::uint64_t steps_since(std::uint64_t step) const;

  static constexpr std::uint64_t kRemembered = 256;

 private:
  /// Returns the steps of such batches from the training's begin to this one: what schedules count.
  std::int64_t schedule_step(const Batch& batch) const;
  /// Returns a pass of such programs, bound to the data.
  DataPass pass_of(const ProgramRecipe& recipe, const Shards& shards);
  DataPass& train();
  DataPass& shard();
  ShardedSteps& tree(std::uint64_t shards);
  std::size_t lanes() const;
  /// Returns the shards of a step over these batches: its shards, or the batches themselves.
  std::vector<ShardRows> shards_in(std::span<const ShardRows> batches) const;

  /// Notes in the model what it learns from, as fit() does.
  void record();
  /// Returns the gradients, of a loss times `scale`, that lie in memory, without it, and notes the
  /// loss.
  State found_gradients(float scale);

  TrainerState& trainer_;
  ObjectiveState& objective_;
  Dataset data_;
  BatchOptions options_;
  std::int64_t most_batches_;
  Shards shards_;  ///< of a batch
  std::int64_t steps_per_epoch_ = 1;
  StepData read_;
  Session session_;
  BatchStream* stream_ = nullptr;
  TrainingStep step_;
  std::vector<bool> trains_;
  double loss_ = 0;
  std::unique_ptr<DataPass> train_;
  std::unique_ptr<DataPass> shard_;
  std::unique_ptr<ShardedSteps> tree_;
  std::uint64_t most_shards_ = 0;   ///< of the tree
  std::vector<ShardRows> batches_;  ///< of the step that is run
  struct Done {
    std::uint64_t step = 0;
    std::vector<ShardRows> batches = {};  ///< none: not done yet
  };
  std::vector<Done> done_;  ///< step s at s % kRemembered
};

}  // namespace linnet
