// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/expression.h>
#include <linnet/network.h>
#include <linnet/table_transform.h>

#include <cstdint>

#include "tasks/task_recipe.h"

namespace linnet {

/// The number of rows from which on one network is trained, in one cycle of the learning rate:
/// several, and many epochs, would take too long.
inline constexpr std::int64_t kRowsOfOneNetwork = 100'000;

/// The most members of a table's ensemble of each fold, and folds that members hold out.
inline constexpr std::int64_t kMostMembers = 32;
inline constexpr std::int64_t kMostValidationFolds = 8;

/// Adds the inputs of a transform's samples: numbers, and one embedding of all ids, as one vector.
Expression table_inputs(FunctionalNetwork& network, const TableTransform& transform);

/// Returns what the default network and recipe take for this number of training rows.
TaskSizes table_sizes(std::int64_t rows);

}  // namespace linnet
