// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/series_task.h>

#include <memory>

#include "tasks/task.h"

namespace linnet {

/// Returns the task of the windows of series, with the samples, network and recipe of `made`.
std::shared_ptr<const Task> task_of_windows(SeriesTask made);

}  // namespace linnet
