// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/table_task.h>

#include <memory>

#include "tasks/task.h"

namespace linnet {

/// Returns the task of the rows of a table, whose samples, network and recipe are those of `made`.
std::shared_ptr<const Task> task_of_rows(TableTask made, Table table);

/// Returns how settings say that a table is read. Throws Error for what can't be read so.
TableOptions reading_of(const DataSettings& settings);
/// Returns whether a file is a table to learn from.
bool is_table(const std::filesystem::path& path, const DataSettings& settings);
/// Returns whether a column holds sentences.
bool holds_sentences(const Table& table, std::size_t column);

}  // namespace linnet
