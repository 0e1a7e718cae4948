// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <optional>
#include <string>
#include <string_view>

namespace linnet {

/// What was said of a file's form and would not have been found in it: a model's further rows are
/// read in the same way.
struct GivenReading {
  std::optional<char> separator = {};
  std::optional<char> decimal = {};
  bool header = false;               ///< the first record names the columns
  std::optional<char> comment = {};  ///< NUL: no lines are comments
  std::string encoding = {};
  bool operator==(const GivenReading&) const = default;

  bool empty() const { return *this == GivenReading(); }
  /// Returns it as words, e.g. "separator=| decimal=, header".
  std::string text() const;
  /// Throws DataError for another text; `where`: the file, for the message.
  static GivenReading from(std::string_view text, std::string_view where);
  void apply(TableOptions& options) const;
};

}  // namespace linnet
