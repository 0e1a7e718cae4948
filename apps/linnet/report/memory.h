// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/inspect.h>

#include <string>
#include <utility>
#include <vector>

#include "report/json.h"

namespace linnet::command {

/// Returns {"parameters": ..., "total": ..., "shards": ...}, in bytes.
Json memory_json(const MemoryPlan& memory);

/// Returns a table of what plans need, a column for each, by its name.
std::string memory_text(const std::vector<std::pair<std::string, MemoryPlan>>& plans);

}  // namespace linnet::command
