// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>

#include "model/optimizers.h"

namespace linnet {

/// What the default recipe of a task takes, by the number of training samples.
struct TaskRecipe {
  std::int64_t batch;
  std::int64_t epochs;
  std::int64_t patience;  ///< 0: no early stopping
};

/// What the default network and recipe of a task take.
struct TaskSizes {
  std::int64_t units;
  double dropout;
  TaskRecipe recipe;
};

/// Changes a recipe for trained weights, which take smaller steps than new ones.
inline void take_smaller_steps(TrainingOptions& training) {
  constexpr double kTransferRate = 0.25;
  if (double* rate = learning_rate_of(training.optimizer)) *rate *= kTransferRate;
}

/// Returns the training that the default recipes share: AdamW, early stopping, the best epoch's
/// weights kept.
inline TrainingOptions training_by(const TaskRecipe& recipe, double learning_rate) {
  constexpr double kWeightDecay = 1e-2;
  TrainingOptions training;
  training.epochs = recipe.epochs;
  training.batch = recipe.batch;
  training.patience = recipe.patience;
  training.keep_best = true;
  training.optimizer = AdamW{.learning_rate = learning_rate, .weight_decay = kWeightDecay};
  return training;
}

}  // namespace linnet
