// SPDX-License-Identifier: Apache-2.0
// Types of a table's columns.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "base/counted.h"
#include "base/utf8.h"
#include "describe/nearest.h"
#include "table/column_facts.h"
#include "table/infer_dates.h"

namespace linnet {
namespace {

constexpr std::int64_t kLeastIdentifiers = 20;  // rows of which distinct values say something
constexpr std::int64_t kFewValues = 10;         // of which a share says nothing
constexpr std::array<std::string_view, 7> kNames{"number",    "integer",  "category",  "boolean",
                                                 "date_time", "constant", "identifier"};

/// Rows without a value from which on it is information whether there is one.
constexpr std::int64_t kLeastBlanks = 3;

ColumnType type_of(const TableContents& table, const ColumnFacts& facts, bool dates) {
  const std::int64_t missing = static_cast<std::int64_t>(table.rows()) - facts.present;
  const bool blanks = std::min(missing, facts.present) >= kLeastBlanks;
  if (facts.distinct == 0 || (facts.distinct == 1 && !blanks)) return ColumnType::constant;
  if (facts.booleans()) return ColumnType::boolean;
  const bool many = facts.present >= kLeastIdentifiers;
  if (facts.numbers()) {
    if (!facts.integers) return ColumnType::number;
    return many && facts.counts_up ? ColumnType::identifier : ColumnType::integer;
  }
  if (dates) return ColumnType::date_time;
  return many && facts.distinct == facts.present ? ColumnType::identifier : ColumnType::category;
}

/// The last row, where it seems to hold totals.
struct TotalsRow {
  std::string_view text = {};  ///< with which it begins; empty: it is an ordinary row
  std::size_t row = 0;
  std::vector<std::string> columns = {};  ///< that would be dates or numbers without it

  /// Returns whether a column's only other value stands in it; notes the column then.
  bool spoils(std::size_t other_row, std::int64_t others, const std::string& column) {
    if (text.empty() || other_row != row || others != 1) return false;
    columns.push_back(column);
    return true;
  }
};

/// Throws DataError for the first value that is not of a given type.
void check_type(const TableContents& table, std::size_t column, ColumnType type) {
  const NumberFormat& format = table.readings[column].format;
  const auto is = [&](std::string_view text) {
    const std::optional<double> number = number_of(text, format);
    switch (type) {
      case ColumnType::number: return number.has_value();
      case ColumnType::integer: return number && *number == std::floor(*number);
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
    if (!text.empty() && !is(text)) {
      fail<DataError>("{}: expected {}; got '{}'", table.place(row, column),
                      kNames[static_cast<std::size_t>(type)], in_message(text));
    }
  }
}

/// Throws DataError for booleans of which all texts mean the same.
void check_booleans(const TableContents& table, std::size_t column, const ColumnFacts& facts) {
  require<DataError>(facts.distinct < 2 || (facts.trues > 0 && facts.falses > 0),
                     "'{}', column '{}': all of its {} different values mean {}, so a boolean "
                     "would not tell them apart; --type '{}=category' does",
                     table.name, table.columns[column].name, facts.distinct,
                     facts.trues > 0 ? "true" : "false", table.columns[column].name);
}

/// A column of texts that is likely to be meant as numbers.
void note_numbers(TableContents& table, std::size_t column, const ColumnFacts& facts,
                  TotalsRow& totals) {
  const std::string& name = table.columns[column].name;
  const std::int64_t others = facts.distinct - facts.number_count;
  if (!facts.code.empty() && facts.readings != 0) {
    table.notes.push_back(
        fmt::format("the values of '{0}', such as '{1}', begin with zeros and are read as texts; "
                    "--type '{0}=integer' reads numbers",
                    name, facts.code));
  } else if (facts.number_count == facts.distinct) {
    table.notes.push_back(fmt::format(
        "the values of '{}' are read as texts, since '{}' and '{}' are not written in one way: "
        "numbers of a column have the same separators and the same unit (--decimal, --thousands)",
        name, facts.first_number, facts.no_number));
  } else if (totals.spoils(facts.no_number_row, others, name)) {
    return;
  } else if (facts.distinct >= kFewValues && 10 * facts.number_count >= 9 * facts.distinct) {
    table.notes.push_back(fmt::format(
        "the values of '{}' are read as texts, since line {} holds '{}': {} of its {} different "
        "values are numbers (--missing-text reads a text as a missing value)",
        name, table.line(facts.no_number_row), facts.no_number, facts.number_count,
        facts.distinct));
  }
}

/// A column of texts nearly all of which are dates.
void note_dates(TableContents& table, std::size_t column, const ColumnFacts& facts,
                const ColumnDates& dates, TotalsRow& totals) {
  if (facts.present < kFewValues || 10 * dates.count < 9 * facts.present) return;
  const std::int64_t others = facts.present - dates.count;
  if (totals.spoils(dates.other_row, others, table.columns[column].name)) return;
  table.notes.push_back(fmt::format(
      "the values of '{}' are read as texts, since line {} holds '{}': {} of its {} values are "
      "dates (--missing-text reads a text as a missing value)",
      table.columns[column].name, table.line(dates.other_row),
      escaped(table.text(dates.other_row, column)), dates.count, facts.present));
}

/// Finds out whether the last row seems to hold totals, which are no sample.
TotalsRow find_totals(const TableContents& table) {
  constexpr std::array<std::string_view, 14> kWords{"total",      "totals",      "grand total",
                                                    "subtotal",   "sum",         "summe",
                                                    "gesamt",     "somme",       "totale",
                                                    "average",    "mean",        "insgesamt",
                                                    "mittelwert", "durchschnitt"};
  const std::size_t last = table.rows() - 1;
  if (static_cast<std::int64_t>(last) < kFewValues) return {};
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const std::string_view text = table.field(last, column);
    const std::string word =
        lower_ascii(text.ends_with(':') ? text.substr(0, text.size() - 1) : text);
    if (std::ranges::count(kWords, word) == 0) continue;
    for (std::size_t row = 0; row < last; ++row) {
      if (table.field(row, column) == text) return {};  // a category
    }
    return {.text = text, .row = last};
  }
  return {};
}

/// Says that the last row seems to hold totals, and which columns are texts because of it.
void note_totals(TableContents& table, const TotalsRow& totals) {
  if (totals.text.empty()) return;
  table.totals = fmt::format(
      "the last row (line {}) of '{}' begins with '{}' and seems to hold totals, no sample{}; "
      "remove it from the file",
      table.line(totals.row), table.name, totals.text,
      totals.columns.empty() ? ""
                             : fmt::format(": because of it the values of {} are read as texts",
                                           quoted(totals.columns)));
  table.notes.push_back("warning: " + table.totals);
}

/// Where words are: of several columns the first one.
struct WordPlaces {
  std::size_t first = 0;
  std::size_t columns = 0;
  std::int64_t rows = 0;
};
using Words = std::map<std::string_view, WordPlaces>;

void add_words(Words& all, const ColumnFacts& facts, std::size_t column) {
  for (const auto& [word, count] : facts.words) {
    WordPlaces& places = all[word];
    if (places.columns++ == 0) places.first = column;
    places.rows += count;
  }
}

/// Says which words are read as missing values, or as texts.
void note_words(TableContents& table, const Words& words, bool missing) {
  for (const auto& [word, places] : words) {
    const std::string& first = table.columns[places.first].name;
    const std::string where = places.columns == 1
                                  ? fmt::format("in '{}'", first)
                                  : fmt::format("in {} columns, '{}' first", places.columns, first);
    table.notes.push_back(
        missing ? fmt::format("'{}' is read as a missing value: {} {}", word,
                              counted(places.rows, "row"), where)
                : fmt::format("'{0}' is read as a text: {1} {2}; --missing-text '{0}' reads it as "
                              "a missing value",
                              word, counted(places.rows, "row"), where));
  }
}

}  // namespace

std::vector<std::string_view> column_type_names() { return {kNames.begin(), kNames.end()}; }
std::vector<std::string_view> date_order_names() {
  return {"year_first", "day_first", "month_first"};
}

void infer_types(TableContents& table, const TableOptions& options) {
  table.dates.resize(table.columns.size());
  table.readings.resize(table.columns.size());
  std::vector<ColumnFacts> all;
  for (std::size_t i = 0; i < table.columns.size(); ++i) all.push_back(facts_of(table, i));
  decide_formats(table, all, options);
  Words missing;
  Words texts;
  TotalsRow totals = find_totals(table);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    ColumnFacts& facts = all[i];
    TableColumn& column = table.columns[i];
    ColumnReading& reading = table.readings[i];
    reading.words = true;  // of dates, what is none of them
    std::optional<ColumnDates> dates;
    if (!facts.numbers()) dates = find_dates(table, i, options.date_order);
    const bool all_dates = dates && facts.present > 0 && dates->count == facts.present;
    if (dates) table.dates[i] = dates->reading;
    reading.words = facts.present == 0 || facts.numbers() || facts.booleans() || all_dates;
    add_words(reading.words ? missing : texts, facts, i);
    if (!reading.words) facts.add_words();
    if (facts.numbers() && !reading.format.plain()) recount(facts, table, i);
    column.missing = static_cast<std::int64_t>(table.rows()) - facts.present;
    column.distinct = facts.distinct;
    column.type = type_of(table, facts, all_dates);
    const bool is_text =
        column.type == ColumnType::category || column.type == ColumnType::identifier;
    if (is_text && !facts.numbers() && !options.types.contains(column.name)) {
      note_numbers(table, i, facts, totals);
      if (dates) note_dates(table, i, facts, *dates, totals);
    }
    if (column.type == ColumnType::date_time) {
      std::ranges::move(dates->notes, std::back_inserter(table.notes));
    }
  }
  note_words(table, missing, true);
  note_words(table, texts, false);
  note_totals(table, totals);
  table.given_types.assign(table.columns.size(), false);
  for (const auto& [name, type] : options.types) {
    const std::size_t column = find_column(table, name);
    table.given_types[column] = true;
    const bool text = type == ColumnType::category || type == ColumnType::identifier;
    if (!text && type != ColumnType::constant) table.readings[column].words = true;
    check_type(table, column, type);
    if (type == ColumnType::boolean) check_booleans(table, column, all[column]);
    table.columns[column].type = type;
  }
}

}  // namespace linnet
