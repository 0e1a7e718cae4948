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

/// Says which of the training rows members of an ensemble hold out.
struct HeldOutFolds {
  std::int64_t folds = 1;  ///< how many are held out; 1: none
  std::int64_t parts = 1;  ///< of how many of equal size
};

/// Returns TableTaskOptions::validation_folds, chosen by the rows where it is 0. Throws Error where
/// other options do not go with it.
HeldOutFolds held_out_folds(const TableTaskOptions& options, std::int64_t rows, bool novelty);

/// Returns the fold of each of these rows, -1 for those of no fold: at random, of each class the
/// same share. `classes`: the target column; nothing for values.
std::vector<float> folds_of_rows(const Table& table, const std::vector<std::int64_t>& rows,
                                 std::optional<std::size_t> classes, const HeldOutFolds& folds,
                                 std::uint64_t seed);

/// Splits these rows as the options say. `classes`: the target column whose every class has to
/// keep a row in the training set; nothing for values. Adds sentences to `notes`. Throws as
/// table_task() does.
SplitRows split_rows(const Table& table, const std::vector<std::int64_t>& rows,
                     std::optional<std::size_t> classes, const TableTaskOptions& options,
                     std::vector<std::string>& notes);

}  // namespace linnet
