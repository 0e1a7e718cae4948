// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "table/number_format.h"

namespace linnet {

/// What was said of a file's form: a model's further rows are read in the same way. Separator and
/// header only where they would not have been found.
struct GivenReading {
  std::optional<char> separator = {};
  std::optional<char> decimal = {};
  std::optional<char> thousands = {};  ///< NUL: none
  bool header = false;                 ///< the first record names the columns
  std::optional<char> comment = {};    ///< NUL: no lines are comments
  std::string encoding = {};
  bool operator==(const GivenReading&) const = default;

  bool empty() const { return *this == GivenReading(); }
  /// Returns it as words, e.g. "separator=| decimal=, header".
  std::string text() const;
  /// Throws DataError for another text; `where`: the file, for the message.
  static GivenReading from(std::string_view text, std::string_view where);
  void apply(TableOptions& options) const;
};

struct TableContents;

/// How the rows that a model learned from were read.
struct LearnedReading {
  bool header = false;  ///< the columns have names of their own
  GivenReading given = {};
  std::vector<std::string> missing = {};  ///< texts that stand for missing values in every column
  std::vector<std::string> words = {};    ///< in those whose other values are no texts
  /// How the numbers of columns are written where more than digits say it. A file that may be read
  /// in two ways is read so.
  std::map<std::string, NumberFormat> formats = {};

  static LearnedReading of(const TableContents& table);
  TableOptions options() const;
};

}  // namespace linnet
