// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/expression.h>
#include <linnet/network.h>
#include <linnet/table_transform.h>

#include <cstdint>

#include "tasks/task_recipe.h"

namespace linnet {

/// Adds the inputs of a transform's samples: numbers, and one embedding of all ids, as one vector.
Expression table_inputs(FunctionalNetwork& network, const TableTransform& transform);

/// Returns what the default network and recipe take for this number of training rows.
TaskSizes table_sizes(std::int64_t rows);

}  // namespace linnet
