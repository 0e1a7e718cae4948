// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "commands/train_options.h"

namespace linnet::command {

/// Throws Error for options that no task describes, were given, and do nothing for `data`.
void check_data(const TrainOptions& options, const Task& task, const std::string& data);

/// Throws Error for options that were given and do nothing for the data of `job`.
void check_options(const TrainOptions& options, const Job& job);

/// Does the same for options of several processes, where this one is alone.
void check_alone(const GivenOptions& given);

/// Does the same for options on the parts of a batch, unless a run is continued.
void check_shards(const TrainOptions& options, const TrainingOptions& training, const Model& model);

}  // namespace linnet::command
