// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "commands/train_options.h"

namespace linnet::command {

/// Throws Error for options that were given and do nothing for the texts or images of
/// TrainOptions::config, a folder or a file.
void check_prepared(const TrainOptions& options, bool texts);

/// Throws Error for options that were given and do nothing for the data of `job`, which
/// check_prepared() has not looked at.
void check_options(const TrainOptions& options, const Job& job);

/// Does the same for options of several processes, where this one is alone.
void check_alone(const GivenOptions& given);

/// Does the same for options on the parts of a batch, unless a run is continued.
void check_shards(const TrainOptions& options, const TrainingOptions& training, const Model& model);

}  // namespace linnet::command
