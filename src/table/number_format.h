// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace linnet {

/// The unit of times of day and of durations, 14:05, 2:05 PM or 36:15:00, whose numbers are hours.
inline constexpr std::string_view kHours = "h:m";

/// How the numbers of a column are written: "1234.5", "1.234,5 €".
struct NumberFormat {
  char decimal = '.';
  char thousands = '\0';  ///< ',', '.', ' ' or '\''; NUL: digits are not grouped
  std::string unit = {};  ///< before or after each number: "%", "$", "kg", ...; or kHours
  bool operator==(const NumberFormat&) const = default;

  bool plain() const { return *this == NumberFormat(); }
  /// Returns it as words, e.g. "decimal=, thousands=. unit=€".
  std::string text() const;
  /// Throws DataError for another text; `where`: the file, for the message.
  static NumberFormat from(std::string_view text, std::string_view where);
};

/// Returns whether a unit is %, $, €, £ or ¥.
bool is_sign(std::string_view unit);

/// Returns the number that a text is, its unit or none around it; nothing for any other text.
std::optional<double> number_of(std::string_view text, const NumberFormat& format);

/// A set of formats, units aside: the readings under which a text is a number.
using Readings = std::uint8_t;
inline constexpr Readings kAllReadings = 0xFF;

/// Returns the readings with this decimal separator.
Readings with_decimal(char decimal);
/// Returns the readings with this separator of thousands; NUL: with none.
Readings with_thousands(char thousands);
/// Returns the plainest format of a set that is not empty.
NumberFormat plainest(Readings readings);

/// What a text is as a number.
struct NumberText {
  Readings readings = 0;       ///< none: it is not a number
  std::string_view unit = {};  ///< as in NumberFormat
  double value = 0;            ///< under the plainest reading
  bool dot = false;            ///< digits stand on both sides of a '.', or after it
  bool comma = false;          ///< the same of a ','
};
/// Reads a text in all ways. Blanks and apostrophes of Unicode count as plain ones.
NumberText read_number(std::string_view text);

/// Returns "1" of "1.0" and "1,00", else the text: whole numbers are one value however they are
/// written. A text with leading zeros stays as it is, and so do three zeros, which may be
/// thousands.
std::string_view whole_text(std::string_view text);

}  // namespace linnet
