// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>
#include <linnet/tables.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace linnet {

/// Rows of a table that a model can be measured on.
struct ModelRows {
  Table table;
  std::vector<std::int64_t> numbers;    ///< of the rows in their file, from 1
  std::vector<std::string> notes = {};  ///< sentences on what was left out
};

/// Reads the rows of a file as the model learned its own, `sheet` of a spreadsheet (empty: the
/// first), and leaves those out that lack a target; `force`: also those whose label is none of the
/// model's classes.
ModelRows measurable_rows(const std::filesystem::path& file, const std::string& sheet,
                          const Model& model, bool force = false);

}  // namespace linnet
