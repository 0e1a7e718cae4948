// SPDX-License-Identifier: Apache-2.0
#include "table/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>
#include <string>
#include <system_error>

#include "table/number_format.h"

namespace linnet {
namespace {

constexpr std::size_t kMostDigits = 18;
constexpr std::size_t kLongestNumber = 512;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes numbers and signs off the front of a date.
struct Reader {
  std::string_view left;
  bool ok = true;

  int digits(std::size_t least, std::size_t most) {
    int value = 0;
    std::size_t count = 0;
    while (count < most && !left.empty() && is_digit(left.front())) {
      value = 10 * value + (left.front() - '0');
      left.remove_prefix(1);
      ++count;
    }
    ok = ok && count >= least;
    return value;
  }
  bool take(char c) {
    if (!left.starts_with(c)) return false;
    left.remove_prefix(1);
    return true;
  }
};

constexpr int kDaySeconds = 86400;

/// Takes +01:00, -0330 or +01 off the front; returns seconds.
int offset_of(Reader& reader) {
  const int sign = reader.left.front() == '-' ? -1 : 1;
  reader.left.remove_prefix(1);
  const int hours = reader.digits(2, 2);
  const bool colon = reader.take(':');
  const int minutes = colon || !reader.left.empty() ? reader.digits(2, 2) : 0;
  reader.ok = reader.ok && hours <= 14 && minutes <= 59;
  return sign * (3600 * hours + 60 * minutes);
}

std::optional<std::int64_t> days(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

}  // namespace

std::optional<double> number_of(std::string_view text, char decimal) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || text.size() > kLongestNumber) return std::nullopt;
  if (digits.front() == 'n' || digits.front() == 'N') return std::nullopt;
  std::array<char, kLongestNumber> point;
  if (decimal == ',') {
    if (text.find('.') != std::string_view::npos) return std::nullopt;
    std::ranges::replace_copy(text, point.begin(), ',', '.');
    text = {point.data(), text.size()};
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const std::size_t exponent = text.find_first_of("eE");
    const bool tiny = exponent == std::string_view::npos
                          ? digits.front() == '0' || digits.front() == '.'
                          : text[exponent + 1] == '-';
    return tiny ? 0 : std::numeric_limits<double>::infinity();
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

bool is_integer(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.size() <= kMostDigits && std::ranges::all_of(text, is_digit);
}

std::optional<bool> boolean_of(std::string_view text) {
  text = whole_text(text);
  if (text.size() > 5) return std::nullopt;
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  for (const char* word : {"1", "true", "yes", "t", "y"}) {
    if (lower == word) return true;
  }
  for (const char* word : {"0", "false", "no", "f", "n"}) {
    if (lower == word) return false;
  }
  return std::nullopt;
}

double DateTime::day_of_year() const {
  const std::chrono::sys_days point{std::chrono::days(day)};
  const std::chrono::year_month_day date(point);
  const std::chrono::sys_days first(date.year() / std::chrono::January / 1);
  return static_cast<double>((point - first).count()) + seconds / 86400;
}

std::optional<DateTime> date_of(std::string_view text, DateOrder order) {
  if (text.size() < 6 || text.size() > 40 || !is_digit(text.front())) return std::nullopt;
  Reader reader{.left = text};
  std::array<int, 3> parts{};
  const bool year_first = order == DateOrder::year_first;
  parts[0] = year_first ? reader.digits(4, 4) : reader.digits(1, 2);
  const char separator = reader.left.empty() ? '\0' : reader.left.front();
  if (separator != '-' && separator != '/' && (separator != '.' || year_first)) return std::nullopt;
  reader.take(separator);
  parts[1] = reader.digits(1, 2);
  reader.ok = reader.ok && reader.take(separator);
  parts[2] = year_first ? reader.digits(1, 2) : reader.digits(4, 4);
  if (!reader.ok) return std::nullopt;
  const auto day = year_first                      ? days(parts[0], parts[1], parts[2])
                   : order == DateOrder::day_first ? days(parts[2], parts[1], parts[0])
                                                   : days(parts[2], parts[0], parts[1]);
  if (!day) return std::nullopt;
  DateTime made{.day = *day};
  if (reader.left.empty()) return made;
  if (!reader.take(' ') && !reader.take('T')) return std::nullopt;
  const int hours = reader.digits(1, 2);
  reader.ok = reader.ok && reader.take(':');
  const int minutes = reader.digits(2, 2);
  double seconds = 0;
  if (reader.take(':')) {
    seconds = reader.digits(2, 2);
    if (reader.take('.')) {
      for (double unit = 0.1; !reader.left.empty() && is_digit(reader.left.front()); unit /= 10) {
        seconds += unit * (reader.left.front() - '0');
        reader.left.remove_prefix(1);
      }
    }
  }
  int offset = 0;
  made.has_zone = !reader.left.empty() && (reader.left[0] == '+' || reader.left[0] == '-');
  if (made.has_zone) {
    offset = offset_of(reader);
  } else {
    reader.take('Z');
  }
  if (!reader.ok || !reader.left.empty() || hours > 23 || minutes > 59 || seconds >= 61) {
    return std::nullopt;
  }
  made.seconds = 3600.0 * hours + 60.0 * minutes + seconds - offset;
  if (made.seconds < 0 || made.seconds >= kDaySeconds) {
    const int step = made.seconds < 0 ? -1 : 1;  // offsets are below a day
    made.day += step;
    made.seconds -= step * kDaySeconds;
  }
  made.has_time = true;
  return made;
}

}  // namespace linnet
