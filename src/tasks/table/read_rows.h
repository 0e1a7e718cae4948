// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/samples.h>

#include <filesystem>
#include <span>
#include <string>

namespace linnet {

/// Reads the rows of tables as samples of a model that learned from a table, each named after its
/// file and row, from 0: "rows.csv[2]". Throws Error as TableTransform::inputs() does.
/// `sheet`: ReadOptions::sheet.
Samples read_rows(std::span<const std::filesystem::path> paths, const Model& model,
                  const std::string& sheet);

}  // namespace linnet
