// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "commands/train_options.h"

namespace linnet::command {

/// Trains in a folder, or continues the training that was stopped there, as `linnet train --out`
/// and `--resume` do. Returns the exit status.
int train_in_folder(const TrainOptions& options, const std::filesystem::path& folder);

}  // namespace linnet::command
