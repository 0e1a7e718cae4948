// SPDX-License-Identifier: Apache-2.0
// What a record learns from the rows of the training set.
#include "series/fit_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/check.h"
#include "describe/nearest.h"
#include "series/find_step.h"
#include "table/contents.h"

namespace linnet {
namespace {

constexpr std::size_t kMostCategories = 32;
constexpr std::int64_t kLeastIdentifiers = 20;
constexpr double kTrend = 0.8;  // least correlation with time

void check_options(const Table& table, const SeriesFit& options) {
  if (options.targets.empty()) {
    std::vector<std::string> names;
    for (const TableColumn& column : table.columns()) names.push_back(column.name);
    fail("name the target column of '{}', one of {}", table.name(), listed(names));
  }
  for (const auto* names : {&options.targets, &options.known, &options.ignore}) {
    for (const std::string& name : *names) static_cast<void>(table.find(name));  // throws
  }
  require(options.past >= 1 && options.past <= kMostSteps,
          "past is the number of steps that the model sees, from 1 to {}; got {}", kMostSteps,
          options.past);
  require(options.future >= 1 && options.future <= kMostSteps,
          "future is the number of steps that are forecast, from 1 to {}; got {}", kMostSteps,
          options.future);
  require(options.season >= 0 && options.season <= kMostSteps,
          "season is a number of steps from 1 to {}, or 0 to find it; got {}", kMostSteps,
          options.season);
  require(options.validation >= 0 && options.test >= 0 && options.validation + options.test < 1,
          "validation and test are shares of the rows, together below 1; got {} and {}",
          options.validation, options.test);
}

/// Whether all values of a column are dates of eight digits, or six.
bool are_compact_dates(const Table& table, std::size_t column) {
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view text = table.text(row, column);
    if (text.empty()) continue;
    if (!compact_date_of(text)) return false;
  }
  return true;
}

/// What the values of a column in the training set are.
struct ColumnFacts {
  bool numbers = true;
  bool counts_up = true;
  std::int64_t missing = 0;
  std::int64_t present = 0;
  std::set<std::string_view> distinct;  ///< 1 and 1.0 are one

  /// One text means true and the other false.
  bool booleans() const {
    return distinct.size() == 2 && boolean_of(*distinct.begin()) &&
           boolean_of(*distinct.rbegin()) &&
           boolean_of(*distinct.begin()) != boolean_of(*distinct.rbegin());
  }
  /// Whether there is a value differs in more than a few rows.
  bool blanks_tell() const {
    constexpr std::int64_t kLeast = 3;
    return std::min(missing, present) >= kLeast;
  }
};

class Fitting {
 public:
  Fitting(const Table& table, const SeriesFit& options) : table_(table), options_(options) {
    record_.learned = LearnedReading::of(*table.contents());
    for (const TableColumn& column : table.columns()) record_.columns.push_back(column.name);
    record_.past = options.past;
    record_.future = options.future;
    record_.same_time = options.same_time;
    record_.off_step = options.off_step;
  }

  FittedSeries fit() {
    const std::string& totals = table_.contents()->totals;
    require<DataError>(totals.empty(), "a series has no totals: {}", totals);
    find_entity();
    find_time();
    const SeriesColumns columns(record_, table_);
    for (std::string& found : find_step(table_, columns, options_.step, record_)) {
      note(found);
    }
    merge_times(columns);
    split(columns);
    add_inputs();
    const AlignedRows aligned = align(table_, columns, record_);
    add_entities(aligned);
    add_targets(aligned);
    fitted_.record = std::make_shared<const SeriesRecord>(std::move(record_));
    return std::move(fitted_);
  }

 private:
  const std::string& name(std::size_t column) const { return table_.columns()[column].name; }
  void note(std::string_view sentence) { fitted_.notes.emplace_back(sentence); }
  bool trains(std::int64_t row) const {
    return times_[static_cast<std::size_t>(row)] < fitted_.validation_from;
  }

  void find_entity() {
    if (options_.entity.empty()) return;
    const std::size_t column = table_.find(options_.entity);
    record_.entity = name(column);
    used_.insert(column);
  }

  void find_time() {
    std::vector<std::size_t> dates;
    for (std::size_t i = 0; i < table_.columns().size(); ++i) {
      const ColumnType type = table_.columns()[i].type;
      const bool whole = type == ColumnType::integer || type == ColumnType::identifier;
      if (used_.contains(i)) continue;
      if (type == ColumnType::date_time || (whole && are_compact_dates(table_, i))) {
        dates.push_back(i);
      }
    }
    if (options_.time == "none" || (options_.time.empty() && dates.empty())) {
      note("rows follow each other at equal steps, without times" + rising_column());
      return;
    }
    std::vector<std::string> names;
    for (const std::size_t column : dates) names.push_back(name(column));
    require<DataError>(
        !options_.time.empty() || dates.size() == 1,
        "'{}' has {} columns of dates: {}; --time names the one that is the time, or "
        "none",
        table_.name(), dates.size(), quoted(names));
    const std::size_t column = options_.time.empty() ? dates[0] : table_.find(options_.time);
    require(used_.insert(column).second, "the column '{}' cannot be both the series and the time",
            name(column));
    record_.time = name(column);
    const ColumnType type = table_.columns()[column].type;
    if (type == ColumnType::date_time) {
      record_.time_kind = TimeKind::date;
      join_times_of_day(column);
      record_.reading = table_.contents()->dates[column];
      record_.form = form_of(column);
    } else {
      record_.time_kind = are_compact_dates(table_, column) ? TimeKind::compact : TimeKind::number;
      record_.form = table_.text(0, column).size() == 6 ? "%Y%m" : "%Y%m%d";
    }
  }

  void join_times_of_day(std::size_t dates) {
    if (options_.same_time != SameTime::refuse) return;
    const auto entity =
        record_.entity.empty() ? std::nullopt : std::optional(table_.find(record_.entity));
    const std::optional<std::size_t> times = find_times_of_day(table_, dates, entity);
    if (!times || !used_.insert(*times).second) return;
    record_.time_of_day = name(*times);
    table_ = join_times(table_, SeriesColumns(record_, table_), record_);
    note(fmt::format("the time is '{}' with the times of day of '{}'", name(dates), name(*times)));
  }

  /// A hint at a column of whole numbers that may be the time: they rise, or fall, in each row.
  std::string rising_column() const {
    for (std::size_t i = 0; i < table_.columns().size() && options_.time.empty(); ++i) {
      if (table_.columns()[i].type != ColumnType::integer || used_.contains(i)) continue;
      if (std::ranges::count(options_.targets, name(i)) > 0) continue;
      bool rises = true;
      bool falls = true;
      for (std::int64_t row = 0; row < table_.rows() && (rises || falls); ++row) {
        const bool missing = table_.missing(row, i);
        const bool first = missing || row == 0;
        const double step = first ? 0 : table_.number(row, i) - table_.number(row - 1, i);
        rises = rises && !missing && (first || step > 0);
        falls = falls && !missing && (first || step < 0);
      }
      if (rises || falls)
        return fmt::format("; --time '{}' takes the numbers of that column", name(i));
    }
    return "";
  }

  /// How the column writes its dates.
  std::string form_of(std::size_t column) const {
    std::string common;
    std::string form;
    for (std::int64_t row = 0; row < table_.rows(); ++row) {
      if (!date_of(table_.text(row, column), record_.reading, &form)) continue;
      common = common.empty() ? form : common_form(common, form);
    }
    return common;
  }

  void merge_times(const SeriesColumns& columns) {
    const std::int64_t rows = table_.rows();
    table_ = one_row_a_time(table_, columns, record_);
    if (table_.rows() == rows) return;
    note(fmt::format("{} rows have the time of another one: --same-time {} makes {} of {}",
                     rows - table_.rows(),
                     same_time_names()[static_cast<std::size_t>(record_.same_time)], table_.rows(),
                     rows));
  }

  /// Finds the times at which the parts begin: rows of one time are never parted.
  void split(const SeriesColumns& columns) {
    times_ = read_times(table_, record_, columns);
    if (record_.time_kind == TimeKind::rows) number_rows(columns);
    std::vector<std::int64_t> sorted = times_;
    std::ranges::sort(sorted);
    const auto time_after = [&](double share) {
      const auto count = static_cast<double>(sorted.size());
      const auto place = static_cast<std::size_t>(std::llround(share * count));
      return place < sorted.size() ? sorted[place] : std::numeric_limits<std::int64_t>::max();
    };
    if (record_.time_kind != TimeKind::rows) {
      record_.times = {static_cast<double>(sorted.front()), static_cast<double>(sorted.back())};
    }
    fitted_.validation_from = time_after(1 - options_.validation - options_.test);
    fitted_.test_from = time_after(1 - options_.test);
  }

  /// Without times, the place of a row in its series is its time.
  void number_rows(const SeriesColumns& columns) {
    for (const AlignedSeries& series : align(table_, columns, record_).series) {
      for (std::size_t i = 0; i < series.rows.size(); ++i) {
        times_[static_cast<std::size_t>(series.rows[i])] = static_cast<std::int64_t>(i);
      }
    }
  }

  ColumnFacts facts_of(std::size_t column) const {
    ColumnFacts facts;
    std::optional<double> last;
    for (std::int64_t row = 0; row < table_.rows(); ++row) {
      if (!trains(row)) continue;
      const std::string_view text = table_.text(row, column);
      if (text.empty()) {
        ++facts.missing;
        continue;
      }
      ++facts.present;
      facts.distinct.insert(whole_text(text));
      const std::optional<double> number =
          number_of(text, table_.contents()->readings[column].format);
      facts.numbers = facts.numbers && number;
      facts.counts_up = facts.counts_up && number && (!last || *number == *last + 1);
      last = number;
    }
    return facts;
  }

  /// Nothing where the column tells nothing in the training set.
  std::optional<SeriesColumn> input(std::size_t column) {
    const ColumnFacts facts = facts_of(column);
    const ColumnType type = table_.columns()[column].type;
    SeriesColumn input{.column = name(column), .indicator = facts.missing > 0};
    if (facts.distinct.size() < 2 && !(facts.distinct.size() == 1 && facts.blanks_tell())) {
      return std::nullopt;
    }
    // A type that was inferred is that of all rows, those of the test set too.
    const bool category = type == ColumnType::category && table_.contents()->given_types[column];
    if (category || (!facts.numbers && !facts.booleans())) {
      if (type == ColumnType::date_time || facts.distinct.size() > kMostCategories) {
        return std::nullopt;
      }
      input.kind = SeriesColumnKind::category;
      input.categories = {facts.distinct.begin(), facts.distinct.end()};
      return input;
    }
    if (!facts.numbers) {
      input.kind = SeriesColumnKind::boolean;
      return input;
    }
    if (facts.counts_up && facts.present >= kLeastIdentifiers) return std::nullopt;
    standardise(input, column);
    return input;
  }

  void standardise(SeriesColumn& input, std::size_t column) const {
    std::int64_t count = 0;
    double mean = 0;
    double squares = 0;
    for (std::int64_t row = 0; row < table_.rows(); ++row) {
      if (!trains(row) || table_.missing(row, column)) continue;
      const double value = table_.number(row, column);
      const double apart = value - mean;
      mean += apart / static_cast<double>(++count);
      squares += apart * (value - mean);
      if (input.range.empty()) input.range = {value, value};
      input.range = {std::min(input.range[0], value), std::max(input.range[1], value)};
    }
    require<DataError>(std::isfinite(squares),
                       "'{}', column '{}': its numbers are too far apart to be standardised",
                       table_.name(), input.column);
    input.mean = mean;
    const double std = std::sqrt(squares / static_cast<double>(count));
    input.std = std > 0 ? std : 1;
  }

  void add_inputs() {
    for (const std::string& target : options_.targets) add_target(table_.find(target));
    std::set<std::size_t> known;
    for (const std::string& one : options_.known) {
      const std::size_t column = table_.find(one);
      require(!used_.contains(column),
              "the column '{}' is the target, the time or the series; it cannot be known ahead",
              name(column));
      known.insert(column);
    }
    std::set<std::size_t> ignored;
    for (const std::string& one : options_.ignore) {
      const std::size_t column = table_.find(one);
      require(!used_.contains(column) && !known.contains(column),
              "the column '{}' is the target, the time, the series or known ahead; it cannot be "
              "left out",
              name(column));
      ignored.insert(column);
    }
    std::vector<std::string> left_out;
    for (std::size_t i = 0; i < table_.columns().size(); ++i) {
      if (used_.contains(i) || ignored.contains(i)) continue;
      std::optional<SeriesColumn> made = input(i);
      if (!made) {
        left_out.push_back(name(i));
        continue;
      }
      made->known = known.contains(i);
      record_.inputs.push_back(*std::move(made));
    }
    if (!left_out.empty()) {
      note(
          fmt::format("columns that are constant, count rows, or hold dates or more than {} texts "
                      "are left out: {}",
                      kMostCategories, quoted(left_out)));
    }
  }

  void add_target(std::size_t column) {
    require(used_.insert(column).second,
            "the target '{}' is given twice, or is the time or the series", name(column));
    const ColumnFacts facts = facts_of(column);
    if (!facts.numbers) {
      for (std::int64_t row = 0; row < table_.rows(); ++row) table_.number(row, column);  // throws
    }
    require<DataError>(facts.distinct.size() > 1,
                       "the target '{}' of '{}' has {} in the training set: there is nothing to "
                       "learn",
                       name(column), table_.name(),
                       facts.distinct.empty() ? "no values" : "one value");
    SeriesColumn input{.column = name(column), .indicator = facts.missing > 0};
    standardise(input, column);
    record_.targets.emplace_back();
    // Beyond it, 32 bits hold less than 4 digits of what the values differ by.
    constexpr double kLargestOffset = 1000;
    if (std::abs(input.mean) > kLargestOffset * input.std)
      record_.targets.back().offset = input.mean;
    record_.inputs.push_back(std::move(input));
  }

  void add_entities(const AlignedRows& aligned) {
    if (record_.entity.empty()) return;
    for (const AlignedSeries& series : aligned.series) {
      const bool trained = std::ranges::any_of(series.rows, [&](std::int64_t row) {
        return row >= 0 && trains(row);
      });
      if (trained) record_.entities.push_back(series.entity);
    }
    std::ranges::sort(record_.entities);
  }

  /// A target's values in the training set, series by series; NaN: missing.
  std::vector<std::vector<double>> values_of(std::size_t target, const AlignedRows& aligned) const {
    const std::size_t column = table_.find(record_.inputs[target].column);
    std::vector<std::vector<double>> all;
    for (const AlignedSeries& series : aligned.series) {
      std::vector<double> values;
      for (const std::int64_t row : series.rows) {
        if (row >= 0 && !trains(row)) break;
        values.push_back(row < 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : table_.number(row, column));
      }
      all.push_back(std::move(values));
    }
    return all;
  }

  void add_targets(const AlignedRows& aligned) {
    for (std::size_t i = 0; i < record_.targets.size(); ++i) {
      const std::vector<std::vector<double>> all = values_of(i, aligned);
      if (i == 0) set_season(all);
      SeriesTarget& target = record_.targets[i];
      const double change = mean_change(all, record_.future, true);
      target.change = change > 0 ? change : record_.inputs[i].std;
      target.naive_error = mean_change(all, record_.season, false);
      target.trend = trend_of(all);
      if (!target.trend) continue;
      note(
          fmt::format("'{}' rises or falls with time: the network sees its differences from the "
                      "last value",
                      record_.inputs[i].column));
    }
  }

  void set_season(const std::vector<std::vector<double>>& all) {
    record_.season = options_.season;
    if (options_.season > 0) return;
    std::vector<std::vector<double>> filled;
    for (const std::vector<double>& values : all) {
      filled.emplace_back();
      for (const double value : values) {
        if (!std::isnan(value)) {
          filled.back().push_back(value);
        } else if (!filled.back().empty()) {
          filled.back().push_back(filled.back().back());
        }
      }
    }
    record_.season = calendar_season(find_season(filled), record_);
    const std::string& of = record_.inputs[0].column;
    note(record_.season > 1
             ? fmt::format("the season is {} steps, by the autocorrelation of '{}'", record_.season,
                           of)
             : fmt::format("no season was found in the autocorrelation of '{}'", of));
  }

  /// The mean change over `lag` steps: absolute, or root mean squared. 0 where there is none.
  static double mean_change(const std::vector<std::vector<double>>& all, std::int64_t lag,
                            bool squared) {
    double sum = 0;
    std::int64_t count = 0;
    for (const std::vector<double>& values : all) {
      for (std::size_t i = static_cast<std::size_t>(lag); i < values.size(); ++i) {
        const double change = values[i] - values[i - static_cast<std::size_t>(lag)];
        if (std::isnan(change)) continue;
        sum += squared ? change * change : std::abs(change);
        ++count;
      }
    }
    if (count == 0) return 0;
    const double mean = sum / static_cast<double>(count);
    return squared ? std::sqrt(mean) : mean;
  }

  /// Whether a target's correlation with time, within each series, is high.
  static bool trend_of(const std::vector<std::vector<double>>& all) {
    double covariance = 0;
    double spread = 0;
    double time_spread = 0;
    for (const std::vector<double>& values : all) {
      double count = 0;
      double mean = 0;
      double mean_time = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) continue;
        ++count;
        mean += (values[i] - mean) / count;
        mean_time += (static_cast<double>(i) - mean_time) / count;
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) continue;
        const double time = static_cast<double>(i) - mean_time;
        covariance += time * (values[i] - mean);
        spread += (values[i] - mean) * (values[i] - mean);
        time_spread += time * time;
      }
    }
    return std::abs(covariance) > kTrend * std::sqrt(spread) * std::sqrt(time_spread);
  }

  Table table_;
  const SeriesFit& options_;
  SeriesRecord record_;
  FittedSeries fitted_;
  std::vector<std::int64_t> times_;
  std::set<std::size_t> used_;  // the series, the time and the targets
};

}  // namespace

FittedSeries fit_series(const Table& table, const SeriesFit& options) {
  require(table.rows() > 0, "the table '{}' has no rows to learn from", table.name());
  check_options(table, options);
  return Fitting(table, options).fit();
}

}  // namespace linnet
