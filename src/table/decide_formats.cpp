// SPDX-License-Identifier: Apache-2.0
// How numbers are written: by each column's values, the other columns and the separator of fields.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "table/column_facts.h"

namespace linnet {
namespace {

constexpr std::array<char, 2> kSeparators{'.', ','};

char other(char separator) { return separator == '.' ? ',' : '.'; }
bool has(const ColumnFacts& facts, char separator) {
  return separator == '.' ? facts.dots : facts.commas;
}
bool may(Readings readings, Readings wanted) { return (readings & wanted) != 0; }
bool decimal_is_possible(const ColumnFacts& facts, char separator) {
  return has(facts, separator) && may(facts.readings, with_decimal(separator));
}
bool thousands_are_possible(const ColumnFacts& facts, char separator) {
  return has(facts, separator) && may(facts.readings, with_thousands(separator));
}
bool is_ambiguous(const ColumnFacts& facts, char separator) {
  return decimal_is_possible(facts, separator) && thousands_are_possible(facts, separator);
}

/// What all columns say of one separator.
struct Votes {
  bool decimal = false;    ///< some column's numbers have it before their fraction
  bool thousands = false;  ///< some column's numbers have it between groups
  bool grouped = false;    ///< some column's numbers have it from 1000 on, and not below
};

class Decision {
 public:
  Decision(TableContents& table, std::vector<ColumnFacts>& facts, const TableOptions& options)
      : table_(table), facts_(facts), options_(options) {}

  void run() {
    for (ColumnFacts& facts : facts_) restrict_to_options(facts);
    for (const ColumnFacts& facts : facts_) vote(facts);
    std::int64_t points = 0;
    std::int64_t commas = 0;
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      ColumnFacts& facts = facts_[i];
      if (facts.readings == 0 || facts.units_differ) continue;
      ColumnReading& reading = table_.readings[i];
      for (const char separator : kSeparators) {
        if (is_ambiguous(facts, separator)) decide(i, separator);
      }
      reading.format = plainest(facts.readings);
      reading.format.unit = facts.unit;
      if (!facts.unit.empty()) {
        table_.notes.push_back(fmt::format("the values of '{}', such as '{}', are read as {}",
                                           table_.columns[i].name, facts.first_number,
                                           facts.unit == kHours ? "hours" : "numbers"));
      }
      if (has(facts, reading.format.decimal)) ++(reading.format.decimal == ',' ? commas : points);
    }
    table_.decimal = options_.decimal.value_or(commas > points ? ',' : '.');
    if (commas > 0 && table_.separator == ',' && !options_.decimal) {
      table_.notes.emplace_back("numbers in quotes are read with a decimal comma");
    }
    note_ambiguous();
  }

 private:
  /// --decimal holds everywhere, --thousands where it can.
  void restrict_to_options(ColumnFacts& facts) const {
    if (options_.decimal && (facts.dots || facts.commas)) {
      facts.readings = static_cast<Readings>(facts.readings & with_decimal(*options_.decimal));
      if (facts.readings == 0 && facts.no_number.empty()) facts.no_number = facts.first_number;
    }
    if (!options_.thousands) return;
    const auto left = static_cast<Readings>(facts.readings & with_thousands(*options_.thousands));
    if (left != 0) facts.readings = left;
  }

  void vote(const ColumnFacts& facts) {
    if (facts.readings == 0 || facts.units_differ) return;
    for (const char separator : kSeparators) {
      Votes& votes = of(separator);
      if (is_ambiguous(facts, separator)) {
        votes.grouped = votes.grouped || (facts.below_thousand && !facts.ungrouped_thousands);
      } else {
        votes.decimal = votes.decimal || decimal_is_possible(facts, separator);
        votes.thousands = votes.thousands || thousands_are_possible(facts, separator);
      }
    }
  }

  void decide(std::size_t column, char separator) {
    ColumnFacts& facts = facts_[column];
    const Votes& here = of(separator);
    bool known = true;
    bool thousands = false;
    if (here.decimal != here.thousands) {
      thousands = here.thousands;
    } else if (of(other(separator)).decimal) {
      thousands = true;
    } else if (table_.separator == ',') {
      thousands = separator == ',';
      known = separator == '.';
    } else {
      thousands = here.grouped;
      known = false;
    }
    facts.readings = static_cast<Readings>(
        facts.readings & (thousands ? with_thousands(separator) : with_decimal(separator)));
    table_.readings[column].certain = false;
    if (!known) noted_[thousands ? 1 : 0].push_back(column);
  }

  /// A sentence for the columns of each reading.
  void note_ambiguous() {
    for (const std::size_t thousands : {0U, 1U}) {
      if (noted_[thousands].empty()) continue;
      const std::size_t first = noted_[thousands].front();
      const std::size_t more = noted_[thousands].size() - 1;
      const std::string_view text = facts_[first].grouped;
      const char separator = text.find('.') != std::string_view::npos ? '.' : ',';
      const std::string where =
          fmt::format("'{}'{}", table_.columns[first].name,
                      more == 0   ? ""
                      : more == 1 ? " and 1 more column"
                                  : fmt::format(" and {} more columns", more));
      table_.notes.push_back(
          thousands == 1
              ? fmt::format("'{0}' in {1} is read as a whole number with the thousands separator "
                            "'{2}'; --decimal {2} reads it as a fraction",
                            text, where, separator)
              : fmt::format("'{0}' in {1} is read as a fraction with the decimal separator '{2}'; "
                            "--thousands {2} reads it as a whole number",
                            text, where, separator));
    }
  }

  Votes& of(char separator) { return votes_[separator == '.' ? 0 : 1]; }

  TableContents& table_;
  std::vector<ColumnFacts>& facts_;
  TableOptions options_;
  std::array<Votes, 2> votes_ = {};
  std::array<std::vector<std::size_t>, 2> noted_ = {};  ///< as fractions, with thousands
};

}  // namespace

void decide_formats(TableContents& table, std::vector<ColumnFacts>& facts,
                    const TableOptions& options) {
  if (!options.decimal && !options.thousands) return Decision(table, facts, {}).run();
  TableContents found{.name = table.name,
                      .records = Records("", {}, table.name),
                      .separator = table.separator};
  found.columns = table.columns;
  found.readings = table.readings;
  std::vector<ColumnFacts> copy = facts;
  Decision(found, copy, {}).run();
  Decision(table, facts, options).run();
  const bool same = std::ranges::equal(found.readings, table.readings, {}, &ColumnReading::format,
                                       &ColumnReading::format);
  if (same) return;
  table.given.decimal = options.decimal;
  table.given.thousands = options.thousands;
}

}  // namespace linnet
