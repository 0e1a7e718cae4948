// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace linnet {

/// Returns whether a number is outside the training rows' range; never without one.
bool is_outside(const std::vector<double>& range, double value);
/// Returns whether a time is further from the training rows' than a tenth of their span, so that
/// the next few rows of a table are not named. Days, seconds or steps; `least`: of a far one.
bool is_far(const std::vector<double>& range, double time, double least);
/// "0 to 80", of at most seven digits each.
std::string numbers_text(const std::vector<double>& range);
/// "2020-01-01 to 2022-12-31" of days since 1970.
std::string days_text(const std::vector<double>& range);

/// Counts values of columns that a model did not learn from, and names some.
class OutsideNotes {
 public:
  /// Starts the next column. `range`: "0 to 80".
  void begin(std::string column, std::string what, std::string range);
  void add(std::string value);
  /// Appends a sentence on each column that has some, and one on those after the fifth.
  void finish(const std::string& table, std::vector<std::string>& notes) const;

 private:
  struct Column {
    std::string name = {};
    std::string what = {};
    std::string range = {};
    std::string first = {};
    std::int64_t count = 0;
  };
  std::vector<Column> columns_ = {};
};

}  // namespace linnet
