// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace linnet {

/// Returns the number that a text is, whole and without blanks; infinite where it says so or is
/// beyond a double. Nothing for any other text, "nan" too. `decimal`: '.' or ','.
std::optional<double> number_of(std::string_view text, char decimal);

/// Returns whether a text is a whole number of at most 18 digits.
bool is_integer(std::string_view text);

/// Returns 1 or 0 for the words of booleans, in any case, and for 1.0 and 0.0; nothing for others.
std::optional<bool> boolean_of(std::string_view text);

/// In which order a date has its parts.
enum class DateOrder : std::uint8_t { year_first, day_first, month_first };

/// A point in time: as the text says it, or in UTC where it says its offset.
struct DateTime {
  std::int64_t day = 0;   ///< days since 1970-01-01
  double seconds = 0;     ///< since midnight
  bool has_time = false;  ///< whether the text holds a time
  bool has_zone = false;  ///< whether the text holds an offset from UTC, other than Z

  int weekday() const { return static_cast<int>(((day + 3) % 7 + 7) % 7); }  ///< Monday is 0
  double day_of_year() const;                                                ///< from 0
};

/// Returns the date that a text is: y-m-d, y/m/d, d/m/y, d.m.y, m/d/y with h:m, h:m:s or h:m:s.f
/// after a blank or a T, perhaps with a last Z or an offset from UTC, +01:00, +0100 or +01, which
/// is subtracted. Nothing for any other text.
std::optional<DateTime> date_of(std::string_view text, DateOrder order);

}  // namespace linnet
