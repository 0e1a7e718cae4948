// SPDX-License-Identifier: Apache-2.0
#include "table/dates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/ascii.h"

namespace linnet {
namespace {

constexpr int kDaySeconds = 86400;
constexpr std::size_t kShortest = 4;
constexpr std::size_t kLongest = 64;
constexpr std::array<std::string_view, 12> kMonths{"january",   "february", "march",    "april",
                                                   "may",       "june",     "july",     "august",
                                                   "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 7> kWeekdays{"monday", "tuesday",  "wednesday", "thursday",
                                                    "friday", "saturday", "sunday"};
constexpr std::size_t kShortName = 3;  // letters of Jan and Mon

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
char lower(char c) { return is_capital(c) ? static_cast<char>(c + ('a' - 'A')) : c; }
char upper(char c) { return is_letter(c) ? static_cast<char>(lower(c) - ('a' - 'A')) : c; }

bool equal_words(std::string_view text, std::string_view lower_case) {
  return text.size() == lower_case.size() &&
         std::equal(text.begin(), text.end(), lower_case.begin(),
                    [](char a, char b) { return lower(a) == b; });
}

/// Returns the place of a name, whole or of its first three letters (and "Sept").
template <std::size_t N>
std::optional<int> place_of(std::string_view word, const std::array<std::string_view, N>& names) {
  for (std::size_t i = 0; i < N; ++i) {
    if (equal_words(word, names[i]) || equal_words(word, names[i].substr(0, kShortName)) ||
        (names[i] == "september" && equal_words(word, "sept"))) {
      return static_cast<int>(i);
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> days(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count();
}

/// The Monday of the first week of a year: that of its 4th of January (ISO 8601).
std::int64_t first_week(int year) {
  const DateTime fourth{.day = *days(year, 1, 4)};
  return fourth.day - fourth.weekday();
}

/// Takes the parts of a date off the front of a text.
class Parser {
 public:
  Parser(std::string_view text, const DateReading& reading, std::string* form)
      : left_(text), reading_(reading), form_(form) {
    if (form_ != nullptr) form_->clear();
  }

  std::optional<DateTime> parse() {
    if (!date()) return std::nullopt;
    if (!left_.empty() && (period_ || !time() || !left_.empty())) return std::nullopt;
    return made_;
  }

 private:
  struct Number {
    int value = 0;
    std::size_t count = 0;  ///< digits
  };

  bool at_digit() const { return !left_.empty() && is_digit(left_.front()); }
  bool at_letter() const { return !left_.empty() && is_letter(left_.front()); }
  char front() const { return left_.empty() ? '\0' : left_.front(); }
  void write(std::string_view code) {
    if (form_ != nullptr) *form_ += code;
  }
  /// `code` for two digits, `bare` where one was written.
  void write(const Number& number, char code, char bare) {
    if (form_ != nullptr) (*form_ += '%') += number.count == 1 ? bare : code;
  }

  Number digits(std::size_t most) {
    Number number;
    while (number.count < most && at_digit()) {
      number.value = 10 * number.value + (left_.front() - '0');
      left_.remove_prefix(1);
      ++number.count;
    }
    return number;
  }
  std::string_view word() {
    std::size_t size = 0;
    while (size < left_.size() && is_letter(left_[size])) ++size;
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  /// Takes a character and notes it as a part of the form.
  bool take(char c) {
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    if (form_ != nullptr) *form_ += c;
    return true;
  }
  bool take_any(std::string_view characters) {
    return !left_.empty() && characters.find(left_.front()) != std::string_view::npos &&
           take(left_.front());
  }
  /// Takes a letter of either case.
  bool take_letter(char capital) { return take(capital) || take(lower(capital)); }

  bool set_day(const std::optional<std::int64_t>& day) {
    made_.day = day.value_or(0);
    return day.has_value();
  }
  int full_year(int of_two_digits) {
    made_.short_year = of_two_digits;
    const int first = reading_.first_year;
    return first + ((of_two_digits - first) % 100 + 100) % 100;
  }
  /// Takes a year of four digits or two.
  std::optional<int> year() {
    const Number number = digits(4);
    if (number.count == 4) {
      write("%Y");
      return number.value;
    }
    if (number.count != 2) return std::nullopt;
    write("%y");
    return full_year(number.value);
  }
  std::optional<int> month_name(std::string_view name) {
    const std::optional<int> month = place_of(name, kMonths);
    if (!month) return std::nullopt;
    const bool whole = name.size() > kShortName && !equal_words(name, "sept");
    const bool capitals = is_capital(name[1]);
    write(whole ? (capitals ? "%C" : "%B") : (capitals ? "%c" : "%b"));
    take('.');
    return *month + 1;
  }

  bool date() {
    if (at_digit()) return number_first();
    if (!at_letter()) return false;
    std::string_view name = word();
    if (place_of(name, kWeekdays)) {
      write(name.size() > kShortName ? "%A" : "%a");
      take('.');
      take(',');
      while (take(' ')) {
      }
      if (at_digit()) return number_first();
      name = word();
    }
    if (equal_words(name, "q")) {
      if (form_ != nullptr) *form_ += name;
      const Number quarter = digits(1);
      write("%q");
      take_any(" -/.");
      const std::optional<int> of = year();
      return of && set_quarter(*of, quarter.value);
    }
    return month_first(name);
  }

  bool number_first() {
    const Number number = digits(4);
    if (number.count == 4) {
      write("%Y");
      return year_first(number.value);
    }
    return number.count <= 2 && short_first(number);
  }

  bool set_quarter(int year, int quarter) {
    period_ = true;
    return quarter >= 1 && quarter <= 4 && set_day(days(year, 3 * quarter - 2, 1));
  }
  bool set_month(int year, int month) {
    period_ = true;
    return set_day(days(year, month, 1));
  }
  /// After the Q after a year.
  bool quarter_of(int year) {
    const Number quarter = digits(1);
    write("%q");
    return set_quarter(year, quarter.value);
  }
  bool week_of(int year) {
    if (form_ != nullptr) form_->replace(form_->rfind("%Y"), 2, "%G");
    const Number week = digits(2);
    write("%V");
    int weekday = 1;
    period_ = front() != '-';
    if (take('-')) {
      weekday = digits(1).value;
      write("%u");
    }
    const std::int64_t day = first_week(year) + 7 * (week.value - 1);
    if (week.count != 2 || week.value < 1 || day >= first_week(year + 1)) return false;
    return weekday >= 1 && weekday <= 7 && set_day(day + weekday - 1);
  }

  /// 2024-03-31, 2024-03, 2024 Mar 31, 2024Q1, 2024-W05, 2024M03.
  bool year_first(int year) {
    if (take_letter('M')) {
      const Number month = digits(2);
      write(month, 'm', 'n');
      return month.count > 0 && set_month(year, month.value);
    }
    const char separator = front();
    const bool parted = take_any("-/. ");
    if (take_letter('Q')) return quarter_of(year);
    if (separator != '/' && separator != '.' && take_letter('W')) return week_of(year);
    if (!parted) return false;
    if (at_letter()) {
      const std::optional<int> month = month_name(word());
      if (!month) return false;
      const bool more = take(separator) || take(' ');
      if (!more || !at_digit()) return !more && set_month(year, *month);
      const Number day = digits(2);
      write(day, 'd', 'e');
      return set_day(days(year, *month, day.value));
    }
    if (separator == ' ') return false;
    const Number month = digits(2);
    write(month, 'm', 'n');
    if (month.count == 0) return false;
    if (!take(separator)) return set_month(year, month.value);
    const Number day = digits(2);
    write(day, 'd', 'e');
    return day.count > 0 && set_day(days(year, month.value, day.value));
  }

  /// 31/03/2024, 3/31/24, 31-Mar-2024, 31st March 2024, 31MAR2024, 03/2024, 1Q24.
  bool short_first(const Number& first) {
    if (first.count == 1 && take_letter('Q')) {
      if (form_ != nullptr) form_->insert(form_->size() - 1, "%q");
      take_any(" -/.");
      const std::optional<int> of = year();
      return of && set_quarter(*of, first.value);
    }
    for (const std::string_view ordinal : {"st", "nd", "rd", "th"}) {
      if (left_.starts_with(ordinal)) left_.remove_prefix(ordinal.size());
    }
    const char separator = front();
    const std::size_t place = form_ != nullptr ? form_->size() : 0;
    const auto write_first = [&](char code, char bare) {
      if (form_ == nullptr) return;
      form_->insert(place, std::string{'%', first.count == 1 ? bare : code});
    };
    const bool parted = take_any("-/. ");
    if (separator == '.' && left_.starts_with(' ') && left_.size() > 1 && is_letter(left_[1])) {
      take(' ');
    }
    if (at_letter()) {
      write_first('d', 'e');
      const std::optional<int> month = month_name(word());
      if (!month) return false;
      take(',');
      take_any("-/ ");
      const std::optional<int> of = year();
      return of && set_day(days(*of, *month, first.value));
    }
    if (!parted || separator == ' ') return false;
    const Number second = digits(4);
    if (second.count == 4 && separator != '.') {
      write_first('m', 'n');
      write("%Y");
      return set_month(second.value, first.value);
    }
    if (second.count == 0 || second.count > 2) return false;
    return three_parts(first, second, separator, write_first);
  }

  template <class WriteFirst>
  bool three_parts(const Number& first, const Number& second, char separator,
                   const WriteFirst& write_first) {
    made_.by_order = true;
    if (reading_.order == DateOrder::year_first) {
      if (form_ != nullptr) form_->insert(form_->size() - 1, "%y");
      write(second, 'm', 'n');
      if (first.count != 2 || !take(separator)) return false;
      const Number day = digits(2);
      write(day, 'd', 'e');
      return day.count > 0 && set_day(days(full_year(first.value), second.value, day.value));
    }
    const bool day_first = reading_.order == DateOrder::day_first;
    write_first(day_first ? 'd' : 'm', day_first ? 'e' : 'n');
    write(second, day_first ? 'm' : 'd', day_first ? 'n' : 'e');
    if (!take(separator)) return false;
    const std::optional<int> of = year();
    if (!of) return false;
    return set_day(day_first ? days(*of, second.value, first.value)
                             : days(*of, first.value, second.value));
  }

  /// March 2024, Mar-24, March 31, 2024.
  bool month_first(std::string_view name) {
    const std::optional<int> month = month_name(name);
    if (!month) return false;
    take(',');
    const char separator = front();
    if (!take_any("-/ ")) return false;
    const Number number = digits(4);
    if (number.count == 4) {
      write("%Y");
      return set_month(number.value, *month);
    }
    if (number.count == 0 || number.count > 2) return false;
    const std::string_view rest = left_;
    for (const std::string_view ordinal : {"st", "nd", "rd", "th"}) {
      if (left_.starts_with(ordinal)) left_.remove_prefix(ordinal.size());
    }
    if (left_.empty() && rest.empty()) {
      write("%y");
      return number.count == 2 && set_month(full_year(number.value), *month);
    }
    write(number, 'd', 'e');
    const bool comma = take(',');
    if (!take(separator == ' ' || !comma ? separator : ' ') && !comma) return false;
    const std::optional<int> of = year();
    return of && set_day(days(*of, *month, number.value));
  }

  /// After a date: T14:05, " 3:05 PM", ", 14:05:30.5+01:00", ":14:05:30 +0000".
  bool time() {
    const bool marked = take('T') || take('t');
    if (!marked) {
      take(',');
      if (!take(' ') && !take(':')) return false;
      while (take(' ')) {
      }
    }
    const std::size_t place = form_ != nullptr ? form_->size() : 0;
    const Number hour = digits(2);
    const bool has_minutes = take(':');
    Number minute;
    double seconds = 0;
    if (has_minutes) {
      minute = digits(2);
      write("%M");
      if (minute.count != 2) return false;
      if (take(':')) {
        const Number whole = digits(2);
        write("%S");
        if (whole.count != 2) return false;
        seconds = whole.value + fraction();
      }
    }
    int hours = hour.value;
    const bool half = half_day(hours);
    if (hour.count == 0 || (!has_minutes && !half && hour.count != 2)) return false;
    if (form_ != nullptr) {
      form_->insert(place, std::string{'%', half ? (hour.count == 1 ? 'l' : 'I')
                                                 : (hour.count == 1 ? 'k' : 'H')});
    }
    const int offset = zone();
    if (offset == kNoZone) return false;
    const bool midnight = hours == 24 && minute.value == 0 && seconds == 0;  // of the next day
    if ((hours > 23 && !midnight) || minute.value > 59 || seconds >= 61) return false;
    made_.seconds = 3600.0 * hours + 60.0 * minute.value + seconds - offset;
    if (made_.seconds < 0 || made_.seconds >= kDaySeconds) {
      const int step = made_.seconds < 0 ? -1 : 1;  // offsets are below a day
      made_.day += step;
      made_.seconds -= step * kDaySeconds;
    }
    made_.has_time = true;
    return true;
  }

  double fraction() {
    if (!left_.starts_with('.') && !left_.starts_with(',')) return 0;
    left_.remove_prefix(1);
    double value = 0;
    for (double unit = 0.1; at_digit(); unit /= 10) {
      value += unit * (left_.front() - '0');
      left_.remove_prefix(1);
    }
    return value;
  }

  /// Takes AM or PM, and makes hours from 0 to 23; 99 for an hour that it cannot follow.
  bool half_day(int& hours) {
    std::string_view rest = left_;
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    const std::size_t blanks = left_.size() - rest.size();
    std::size_t size = 0;
    for (const std::string_view mark : {"am", "pm", "a.m.", "p.m."}) {
      if (equal_words(rest.substr(0, mark.size()), mark)) size = mark.size();
    }
    if (size == 0) return false;
    const bool afternoon = lower(rest[0]) == 'p';
    if (form_ != nullptr) {
      form_->append(blanks, ' ');
      *form_ += is_capital(rest[0]) ? "%p" : "%P";
    }
    left_ = rest.substr(size);
    made_.half_days = true;
    hours = hours < 1 || hours > 12 ? 99 : hours % 12 + (afternoon ? 12 : 0);
    return true;
  }

  static constexpr int kNoZone = 1 << 30;
  /// Takes Z, UTC, GMT or an offset; returns its seconds.
  int zone() {
    if (left_.empty()) return 0;
    std::string_view rest = left_;
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    for (const std::string_view name : {"z", "utc", "gmt"}) {
      if (!equal_words(rest, name)) continue;
      write(left_);
      left_ = {};
      return 0;
    }
    if (!rest.starts_with('+') && !rest.starts_with('-')) return kNoZone;
    const int sign = rest.front() == '-' ? -1 : 1;
    left_ = rest.substr(1);
    const Number hours = digits(2);
    const bool colon = left_.starts_with(':');
    if (colon) left_.remove_prefix(1);
    const Number minutes = colon || !left_.empty() ? digits(2) : Number{.count = 2};
    if (hours.count != 2 || minutes.count != 2 || hours.value > 14 || minutes.value > 59) {
      return kNoZone;
    }
    write("Z");  // the time is written in UTC
    made_.has_zone = true;
    return sign * (3600 * hours.value + 60 * minutes.value);
  }

  std::string_view left_;
  const DateReading& reading_;
  std::string* form_;
  bool period_ = false;  ///< a month, quarter or week: no time follows
  DateTime made_ = {};
};

/// Codes of which the second also writes what the first does.
constexpr std::array<std::array<char, 2>, 6> kWider{
    {{'d', 'e'}, {'m', 'n'}, {'H', 'k'}, {'I', 'l'}, {'b', 'B'}, {'c', 'C'}}};

std::string name_text(std::string_view name, bool whole, bool capitals) {
  std::string text(whole ? name : name.substr(0, kShortName));
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 0 || capitals) text[i] = upper(text[i]);
  }
  return text;
}

}  // namespace

double DateTime::day_of_year() const {
  const std::chrono::sys_days point{std::chrono::days(day)};
  const std::chrono::year_month_day date(point);
  const std::chrono::sys_days first(date.year() / std::chrono::January / 1);
  return static_cast<double>((point - first).count()) + seconds / kDaySeconds;
}

std::optional<DateTime> date_of(std::string_view text, const DateReading& reading,
                                std::string* form) {
  if (text.size() < kShortest || text.size() > kLongest) return std::nullopt;
  return Parser(text, reading, form).parse();
}

std::optional<DateTime> compact_date_of(std::string_view text) {
  if ((text.size() != 8 && text.size() != 6) || !std::ranges::all_of(text, is_digit)) {
    return std::nullopt;
  }
  const auto number = [&](std::size_t from, std::size_t size) {
    int value = 0;
    for (const char c : text.substr(from, size)) value = 10 * value + (c - '0');
    return value;
  };
  constexpr int kFirst = 1700;  // of six digits: a number is likelier before
  constexpr int kLast = 2199;
  const int year = number(0, 4);
  if (text.size() == 6 && (year < kFirst || year > kLast)) return std::nullopt;
  const auto day = days(year, number(4, 2), text.size() == 8 ? number(6, 2) : 1);
  if (!day) return std::nullopt;
  return DateTime{.day = *day};
}

std::string common_form(const std::string& form, const std::string& other) {
  if (form.size() != other.size()) return form;
  std::string common = form;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] == other[i]) continue;
    const bool wider = i > 0 && form[i - 1] == '%' &&
                       std::ranges::any_of(kWider, [&](const std::array<char, 2>& pair) {
                         return (pair[0] == form[i] && pair[1] == other[i]) ||
                                (pair[1] == form[i] && pair[0] == other[i]);
                       });
    if (!wider) return form;
    for (const std::array<char, 2>& pair : kWider) {
      if (pair[0] == form[i]) common[i] = pair[1];
    }
  }
  return common;
}

std::string date_text(const std::string& form, std::int64_t day, std::int64_t seconds) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days(day)}};
  const int year = static_cast<int>(date.year());
  const unsigned month = static_cast<unsigned>(date.month());
  const unsigned in_month = static_cast<unsigned>(date.day());
  const int weekday = DateTime{.day = day}.weekday();
  const std::int64_t hour = seconds / 3600;
  const std::int64_t half_hour = (hour + 11) % 12 + 1;
  // The ISO week is that of its Thursday.
  const std::chrono::sys_days thursday{std::chrono::days(day - weekday + 3)};
  const int iso_year = static_cast<int>(std::chrono::year_month_day(thursday).year());
  std::string text;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '%' || i + 1 == form.size()) {
      text += form[i];
      continue;
    }
    switch (form[++i]) {
      case 'Y': text += fmt::format("{:04}", year); break;
      case 'y': text += fmt::format("{:02}", ((year % 100) + 100) % 100); break;
      case 'm': text += fmt::format("{:02}", month); break;
      case 'n': text += fmt::format("{}", month); break;
      case 'd': text += fmt::format("{:02}", in_month); break;
      case 'e': text += fmt::format("{}", in_month); break;
      case 'b': text += name_text(kMonths[month - 1], false, false); break;
      case 'B': text += name_text(kMonths[month - 1], true, false); break;
      case 'c': text += name_text(kMonths[month - 1], false, true); break;
      case 'C': text += name_text(kMonths[month - 1], true, true); break;
      case 'a':
        text += name_text(kWeekdays[static_cast<std::size_t>(weekday)], false, false);
        break;
      case 'A': text += name_text(kWeekdays[static_cast<std::size_t>(weekday)], true, false); break;
      case 'q': text += fmt::format("{}", (month + 2) / 3); break;
      case 'G': text += fmt::format("{:04}", iso_year); break;
      case 'V':
        text +=
            fmt::format("{:02}",
                        (thursday.time_since_epoch().count() - 3 - first_week(iso_year)) / 7 + 1);
        break;
      case 'u': text += fmt::format("{}", weekday + 1); break;
      case 'H': text += fmt::format("{:02}", hour); break;
      case 'k': text += fmt::format("{}", hour); break;
      case 'I': text += fmt::format("{:02}", half_hour); break;
      case 'l': text += fmt::format("{}", half_hour); break;
      case 'M': text += fmt::format("{:02}", seconds / 60 % 60); break;
      case 'S': text += fmt::format("{:02}", seconds % 60); break;
      case 'p': text += hour < 12 ? "AM" : "PM"; break;
      case 'P': text += hour < 12 ? "am" : "pm"; break;
      default: break;
    }
  }
  return text;
}

}  // namespace linnet
