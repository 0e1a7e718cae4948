// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "commands/train_options.h"

namespace linnet::command {

/// Cross-validates: trains on all parts of a table but one, measures on that one, for each part,
/// and prints the scores with mean and std. Keeps no model; --out gets folds.json. `first`: the
/// job of the first fold. Returns the exit status.
int train_folds(const TrainOptions& options, const Job& first);

}  // namespace linnet::command
