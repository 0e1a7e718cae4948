// SPDX-License-Identifier: Apache-2.0
#include "table/column_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

namespace linnet {
namespace {

constexpr std::size_t kGroup = 3;  // digits between separators of thousands

/// The different values of a column. A set of texts would look for each in three places of memory.
class DistinctTexts {
 public:
  DistinctTexts(const TableContents& table, std::size_t column) : table_(table), column_(column) {}

  /// Returns whether the row's text is a new one.
  bool insert(std::string_view text, std::size_t row) {
    Slot slot{.row = static_cast<std::uint32_t>(row),
              .hash = static_cast<std::uint32_t>(std::hash<std::string_view>()(text))};
    text.copy(slot.start.data(), slot.start.size());
    const std::size_t place = find(slot.hash, [&](const Slot& other) {
      return other.start == slot.start && (text.size() < slot.start.size() ||
                                           whole_text(table_.field(other.row, column_)) == text);
    });
    if (slots_[place].row != kFree) return false;
    slots_[place] = slot;
    if (2 * ++size_ > slots_.size()) grow();
    return true;
  }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;  // rows are below 2^28
  struct Slot {
    std::array<char, 16> start = {};  // of the text, which holds no NUL
    std::uint32_t row = kFree;
    std::uint32_t hash = 0;
  };

  template <class Same>
  std::size_t find(std::uint32_t hash, Same&& same) const {
    std::size_t place = hash & (slots_.size() - 1);
    while (slots_[place].row != kFree && (slots_[place].hash != hash || !same(slots_[place]))) {
      place = (place + 1) & (slots_.size() - 1);
    }
    return place;
  }

  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    for (const Slot& slot : old) {
      if (slot.row == kFree) continue;
      slots_[find(slot.hash, [](const Slot& /*other*/) { return false; })] = slot;
    }
  }

  const TableContents& table_;
  std::size_t column_;
  std::size_t size_ = 0;
  std::vector<Slot> slots_ = std::vector<Slot>(64);
};

std::optional<std::int64_t> integer_of(std::string_view text) {
  if (!is_integer(text)) return std::nullopt;
  if (text.front() == '+') text.remove_prefix(1);
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void add_word(ColumnFacts& facts, std::string_view word) {
  const auto found = std::ranges::find(facts.words, word, [](const auto& of) { return of.first; });
  if (found == facts.words.end()) {
    facts.words.emplace_back(word, 1);
  } else {
    ++found->second;
  }
}

/// A whole number of digits alone.
void add_integer(ColumnFacts& facts, std::string_view text) {
  const std::string_view digits = text.substr(text.front() == '-' || text.front() == '+' ? 1 : 0);
  if (digits.size() > 1 && digits.front() == '0' && facts.code.empty()) facts.code = text;
  if (digits.size() > kGroup) facts.ungrouped_thousands = true;
  if (digits.size() <= kGroup && digits != "0") facts.below_thousand = true;
  ++facts.number_count;
}

/// Whether the digits before and after a lone separator may be groups.
bool may_be_grouped(std::string_view text, std::size_t at) {
  const std::size_t first = text.front() == '-' || text.front() == '+' ? 1 : 0;
  return text.size() == at + 1 + kGroup && at > first && at <= first + kGroup &&
         text[first] != '0' && text.find_first_of("eE") == std::string_view::npos;
}

/// The first values with a unit, with another unit, and with none.
struct Units {
  std::string_view with = {};
  std::string_view other = {};
  std::string_view without = {};
};

void add_other(ColumnFacts& facts, Units& units, std::string_view text, std::size_t row) {
  facts.integers = false;
  const std::size_t dot = text.find('.');
  NumberText read;
  if (number_of(text, '.')) {
    const bool grouped = dot != std::string_view::npos && may_be_grouped(text, dot);
    read.readings = dot == std::string_view::npos ? kAllReadings
                    : grouped ? static_cast<Readings>(with_decimal('.') | with_thousands('.'))
                              : with_decimal('.');
    read.dot = dot != std::string_view::npos;
    if (grouped && facts.grouped.empty()) facts.grouped = text;
  } else {
    read = read_number(text);
    if (read.readings != 0 && read.comma && facts.grouped.empty()) facts.grouped = text;
  }
  if (read.readings == 0) {
    if (facts.no_number.empty()) {
      facts.no_number = text;
      facts.no_number_row = row;
    }
    facts.readings = 0;
    return;
  }
  ++facts.number_count;
  if (facts.first_number.empty()) facts.first_number = text;
  facts.dots = facts.dots || read.dot;
  facts.commas = facts.commas || read.comma;
  if (read.unit.empty()) {
    if (units.without.empty()) units.without = text;
  } else if (units.with.empty()) {
    units.with = text;
    facts.unit = read.unit;
  } else if (read.unit != facts.unit && units.other.empty()) {
    units.other = text;
  }
  if (!read.dot && !read.comma && read.value != 0) {
    (std::abs(read.value) < 1000 ? facts.below_thousand : facts.ungrouped_thousands) = true;
  }
  if ((facts.readings & read.readings) == 0 && facts.no_number.empty()) {
    facts.no_number = text;
    facts.no_number_row = row;
  }
  facts.readings = static_cast<Readings>(facts.readings & read.readings);
}

}  // namespace

void ColumnFacts::add_words() {
  for (const auto& [word, count] : words) {
    ++distinct;
    present += count;
  }
  if (words.empty()) return;
  integers = false;
  readings = 0;
}

ColumnFacts facts_of(const TableContents& table, std::size_t column) {
  ColumnFacts facts;
  Units units;
  DistinctTexts values(table, column);
  std::optional<std::int64_t> last;
  bool booleans = true;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::string_view text = table.field(row, column);
    const bool word = table.missing_words.contains(text);
    if (word || table.is_missing(text, false)) {
      facts.counts_up = false;
      if (word && !table.missing_texts.contains(text)) add_word(facts, text);
      continue;
    }
    ++facts.present;
    text = whole_text(text);
    if (facts.counts_up) {
      const std::optional<std::int64_t> integer = integer_of(text);
      facts.counts_up = integer && (!last || *integer == *last + 1);
      last = integer;
    }
    if (!values.insert(text, row)) continue;
    ++facts.distinct;
    if (booleans) {
      const std::optional<bool> value = boolean_of(text);
      booleans = value.has_value();
      if (value) ++(*value ? facts.trues : facts.falses);
    }
    if (is_integer(text)) {
      add_integer(facts, text);
      if (text != "0" && units.without.empty()) units.without = text;
    } else {
      add_other(facts, units, text, row);
    }
  }
  facts.units_differ = !units.with.empty() && (!units.other.empty() || !units.without.empty());
  if (facts.units_differ && facts.no_number.empty()) {
    facts.first_number = units.with;
    facts.no_number = units.other.empty() ? units.without : units.other;
  }
  return facts;
}

void recount(ColumnFacts& facts, const TableContents& table, std::size_t column) {
  const NumberFormat& format = table.readings[column].format;
  facts.integers = true;
  facts.counts_up = facts.present == static_cast<std::int64_t>(table.rows());
  std::optional<double> last;
  for (std::size_t row = 0; row < table.rows() && facts.integers; ++row) {
    const std::string_view text = table.text(row, column);
    if (text.empty()) continue;
    const double value = number_of(text, format).value_or(0.5);
    facts.integers =
        value == std::floor(value) && text.find_first_of("eE") == std::string_view::npos;
    facts.counts_up = facts.counts_up && (!last || value == *last + 1);
    last = value;
  }
}

}  // namespace linnet
