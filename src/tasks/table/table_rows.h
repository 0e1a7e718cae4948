// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/table_task.h>

#include <memory>

#include "tasks/task.h"

namespace linnet {

/// Returns the task of the rows of a table, whose samples, network and recipe are those of `made`.
std::shared_ptr<const Task> task_of_rows(TableTask made, Table table);

}  // namespace linnet
