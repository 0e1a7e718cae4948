// SPDX-License-Identifier: Apache-2.0
// Types of a table's columns.
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "table/contents.h"
#include "table/infer_dates.h"

namespace linnet {
namespace {

constexpr std::int64_t kLeastIdentifiers = 20;  // rows of which distinct values say something
constexpr std::int64_t kFewValues = 10;         // of which a share says nothing
constexpr std::array<std::string_view, 7> kNames{"number",    "integer",  "category",  "boolean",
                                                 "date_time", "constant", "identifier"};

/// What all values of a column are.
struct Facts {
  bool numbers = true;
  bool integers = true;
  bool booleans = true;
  bool counts_up = true;
  bool look_like_numbers = true;    ///< as people write them
  std::string_view no_number = {};  ///< a value that is none as files write them
  std::size_t no_number_row = 0;
  std::int64_t number_count = 0;  ///< different values that are numbers
  std::int64_t present = 0;
  std::int64_t distinct = 0;
};

std::optional<std::int64_t> integer_of(std::string_view text) {
  if (!is_integer(text)) return std::nullopt;
  return static_cast<std::int64_t>(*number_of(text, '.'));
}

/// "1.234,56", "2,12", "12 %" and "$3.50": digits, groups of three after separators, decimals.
bool looks_like_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  for (const std::string_view sign : {"$", "€", "£", "%", " "}) {
    if (text.starts_with(sign)) text.remove_prefix(sign.size());
  }
  for (const std::string_view sign : {"%", "€", "$", "£", " "}) {
    if (text.ends_with(sign)) text.remove_suffix(sign.size());
  }
  const auto take_digits = [&] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (take_digits() == 0) return false;
  constexpr std::size_t kGroup = 3;
  std::size_t digits = kGroup;
  while (digits == kGroup && !text.empty() &&
         std::string_view(".,' ").find(text.front()) != std::string_view::npos) {
    text.remove_prefix(1);
    digits = take_digits();
    if (digits == 0) return false;
  }
  return text.empty();
}

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
      return other.start == slot.start &&
             (text.size() < slot.start.size() || table_.text(other.row, column_) == text);
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

Facts facts_of(const TableContents& table, std::size_t column) {
  Facts facts;
  DistinctTexts values(table, column);
  std::optional<std::int64_t> last;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string_view text = table.text(row, column);
    if (text.empty()) {
      facts.counts_up = false;
      continue;
    }
    ++facts.present;
    const bool is_new = values.insert(text, row);
    const std::optional<std::int64_t> integer = integer_of(text);
    facts.counts_up = facts.counts_up && integer && (!last || *integer == *last + 1);
    last = integer;
    if (!is_new) continue;
    ++facts.distinct;
    facts.integers = facts.integers && integer;
    if (number_of(text, table.decimal)) {
      ++facts.number_count;
    } else if (facts.numbers) {
      facts.numbers = false;
      facts.no_number = text;
      facts.no_number_row = row;
    }
    facts.look_like_numbers = facts.look_like_numbers && looks_like_number(text);
    facts.booleans = facts.booleans && boolean_of(text);
  }
  return facts;
}

ColumnType type_of(const Facts& facts, bool dates) {
  if (facts.distinct <= 1) return ColumnType::constant;
  if (facts.booleans && facts.distinct == 2) return ColumnType::boolean;
  const bool many = facts.present >= kLeastIdentifiers;
  if (facts.integers) return many && facts.counts_up ? ColumnType::identifier : ColumnType::integer;
  if (facts.numbers) return ColumnType::number;
  if (dates) return ColumnType::date_time;
  return many && facts.distinct == facts.present ? ColumnType::identifier : ColumnType::category;
}

/// Throws DataError for the first value that is not of a given type.
void check_type(const TableContents& table, std::size_t column, ColumnType type) {
  const auto is = [&](std::string_view text) {
    switch (type) {
      case ColumnType::number: return number_of(text, table.decimal).has_value();
      case ColumnType::integer: return is_integer(text);
      case ColumnType::boolean: return boolean_of(text).has_value();
      case ColumnType::date_time: return date_of(text, table.dates[column]).has_value();
      case ColumnType::category:
      case ColumnType::constant:
      case ColumnType::identifier: break;
    }
    return true;
  };
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string_view text = table.text(row, column);
    require<DataError>(text.empty() || is(text), "{}: expected {}; got '{}'",
                       table.place(row, column), kNames[static_cast<std::size_t>(type)], text);
  }
}

/// A column of texts that is likely to be meant as numbers.
void note_numbers(TableContents& table, std::size_t column, const Facts& facts) {
  const std::string& name = table.columns[column].name;
  if (facts.look_like_numbers) {
    table.notes.push_back(fmt::format(
        "the values of '{}', such as '{}', are read as texts; a number has no thousands separators "
        "and no signs such as %, and its decimal separator is '{}' here (--decimal)",
        name, facts.no_number, table.decimal));
  } else if (facts.distinct >= kFewValues && 10 * facts.number_count >= 9 * facts.distinct) {
    table.notes.push_back(fmt::format(
        "the values of '{}' are read as texts, since line {} holds '{}': {} of its {} different "
        "values are numbers (--missing-text reads a text as a missing value)",
        name, table.line(facts.no_number_row), facts.no_number, facts.number_count,
        facts.distinct));
  }
}

/// A column of texts nearly all of which are dates.
void note_dates(TableContents& table, std::size_t column, const Facts& facts,
                const ColumnDates& dates) {
  if (facts.present < kFewValues || 10 * dates.count < 9 * facts.present) return;
  table.notes.push_back(fmt::format(
      "the values of '{}' are read as texts, since line {} holds '{}': {} of its {} values are "
      "dates (--missing-text reads a text as a missing value)",
      table.columns[column].name, table.line(dates.other_row),
      escaped(table.text(dates.other_row, column)), dates.count, facts.present));
}

}  // namespace

std::vector<std::string_view> column_type_names() { return {kNames.begin(), kNames.end()}; }
std::vector<std::string_view> date_order_names() {
  return {"year_first", "day_first", "month_first"};
}

void infer_types(TableContents& table, const TableOptions& options) {
  table.dates.resize(table.columns.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Facts facts = facts_of(table, i);
    TableColumn& column = table.columns[i];
    std::optional<ColumnDates> dates;
    if (!facts.numbers) dates = find_dates(table, i, options.date_order);
    const bool all_dates = dates && dates->count == facts.present;
    if (dates) table.dates[i] = dates->reading;
    column.missing = static_cast<std::int64_t>(table.rows()) - facts.present;
    column.distinct = facts.distinct;
    column.type = type_of(facts, all_dates);
    const bool texts = column.type == ColumnType::category || column.type == ColumnType::identifier;
    if (texts && !facts.numbers && !options.types.contains(column.name)) {
      note_numbers(table, i, facts);
      if (dates) note_dates(table, i, facts, *dates);
    }
    if (column.type == ColumnType::date_time) {
      std::ranges::move(dates->notes, std::back_inserter(table.notes));
    }
  }
  table.given_types.assign(table.columns.size(), false);
  for (const auto& [name, type] : options.types) {
    const std::size_t column = find_column(table, name);
    table.given_types[column] = true;
    check_type(table, column, type);
    table.columns[column].type = type;
  }
}

}  // namespace linnet
