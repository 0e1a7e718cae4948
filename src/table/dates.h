// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace linnet {

/// How the dates of a column are read.
struct DateReading {
  DateOrder order = DateOrder::year_first;
  /// A year of two digits is one of the hundred years from this one on.
  int first_year = 1950;
  bool operator==(const DateReading&) const = default;
};

/// A point in time: as the text says it, or in UTC where it says its offset.
struct DateTime {
  std::int64_t day = 0;    ///< days since 1970-01-01; of a month, quarter or week its first
  double seconds = 0;      ///< since midnight
  bool has_time = false;   ///< whether the text holds a time
  bool has_zone = false;   ///< whether the text holds an offset from UTC, other than Z
  bool by_order = false;   ///< whether the order of its parts was needed
  int short_year = -1;     ///< a year that the text gives in two digits; -1: it has four
  bool half_days = false;  ///< whether the text says AM or PM

  int weekday() const { return static_cast<int>(((day + 3) % 7 + 7) % 7); }  ///< Monday is 0
  double day_of_year() const;                                                ///< from 0
};

/// Returns the date that a text is; nothing for any other text. Dates: y-m-d, d-m-y and m-d-y with
/// `-`, `/` or `.` between parts; 31 March 2024, 31-Mar-24, March 31, 2024 (English names, also
/// after a weekday); months 2024-03, 03/2024, 2024M03, Mar 2024, Mar-24; quarters 2024Q1, Q1 2024,
/// 1Q24; ISO weeks 2024-W05, 2024-W05-1. Times after a blank or a T: h:m, h:m:s, h:m:s.f, 3:05 PM;
/// then perhaps Z, UTC, GMT or an offset from UTC, +01:00, +0100 or +01, which is subtracted.
/// `form`, if given, becomes the form of the text, for date_text().
std::optional<DateTime> date_of(std::string_view text, const DateReading& reading,
                                std::string* form = nullptr);

/// Returns the date of eight digits, 20240331, or of six, 202403.
std::optional<DateTime> compact_date_of(std::string_view text);

/// Returns a form of which both texts are: one that writes 1/5/2024 and 10/12/2024 alike, March and
/// May. `form` where there is none.
std::string common_form(const std::string& form, const std::string& other);

/// Writes a date in a form: `%Y-%m-%d %H:%M`, as strftime() does. Further codes: %e, %n, %k and %l
/// are %d, %m, %H and %I without a leading zero, %c and %C are %b and %B in capitals, %q is the
/// quarter, %P is am or pm. A code that it does not know is left out.
std::string date_text(const std::string& form, std::int64_t day, std::int64_t seconds);

}  // namespace linnet
