// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/table_task.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace linnet {

/// The rows of each part, in the table's order.
struct SplitRows {
  std::vector<std::int64_t> train = {};
  std::vector<std::int64_t> validation = {};
  std::vector<std::int64_t> test = {};
};

/// Throws Error for shares, folds, and a group beside a time that table_task() refuses.
void check_split(const TableTaskOptions& options);

/// Splits these rows as the options say. `classes`: the target column whose every class has to
/// keep a row in the training set; nothing for values. Adds sentences to `notes`. Throws as
/// table_task() does.
SplitRows split_rows(const Table& table, const std::vector<std::int64_t>& rows,
                     std::optional<std::size_t> classes, const TableTaskOptions& options,
                     std::vector<std::string>& notes);

}  // namespace linnet
