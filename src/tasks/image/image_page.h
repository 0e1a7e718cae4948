// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tasks/task_pages.h"

namespace linnet {

/// Returns what is said of a folder of images.
TaskPage page_of_images(const std::string& path);

}  // namespace linnet
