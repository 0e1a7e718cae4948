// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace linnet {

/// A sheet as delimited text: a line a row, fields between commas in quotes.
struct SheetText {
  std::string text = {};
  std::string note = {};  ///< a sentence on the sheet that was taken; empty: it is the only one
};

/// Returns whether a file of these first bytes is a zip archive, as .xlsx is.
bool is_zip(std::string_view start);

/// Reads a sheet of a spreadsheet (Office Open XML, .xlsx): numbers, texts, booleans as TRUE and
/// FALSE, dates by the formats of their cells as 2024-03-31 or 2024-03-31 14:05:00, what formulas
/// came to, and cells of errors as empty ones. `sheet`: its name, or its number from 1; empty: the
/// first. Throws DataError for a sheet that is not there, with the names of all; for another
/// archive; for a damaged file; and for one that unpacks to more than 1 GiB or has a cell beyond
/// row 1,048,576 or column 16,384.
SheetText read_sheet(const std::filesystem::path& path, const std::string& sheet);

}  // namespace linnet
