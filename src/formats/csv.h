// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// A table of text fields (RFC 4180): a first row of column names, then rows of as many fields.
struct CsvTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> lines;  ///< the line of the file on which each row begins, from 1

  std::optional<std::size_t> find(std::string_view column) const;
};

/// Fields are parted by commas, by semicolons or tabs where the first line has no comma, and may
/// stand in double quotes; empty lines and a byte order mark are passed over. Throws Error naming
/// the file and line: a row of another number of fields, a quote without end.
CsvTable read_csv(const std::filesystem::path& path);

/// Returns the columns that a file's first line names; none where it can't be read.
std::vector<std::string> csv_columns(const std::filesystem::path& path);

}  // namespace linnet
