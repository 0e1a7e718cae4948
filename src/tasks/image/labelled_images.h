// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tasks/task.h"

namespace linnet {

/// Returns the task of images that are read and split.
std::shared_ptr<const Task> task_of_images(Splits data, std::vector<std::string> notes);

}  // namespace linnet
