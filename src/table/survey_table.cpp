// SPDX-License-Identifier: Apache-2.0
#include "table/survey_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "table/contents.h"

namespace linnet {
namespace {

constexpr std::size_t kMostFrequent = 10;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool has_order(ColumnType type) {
  return type == ColumnType::number || type == ColumnType::integer || type == ColumnType::date_time;
}
bool is_text(ColumnType type) {
  return type == ColumnType::category || type == ColumnType::boolean ||
         type == ColumnType::constant;
}

/// A column's numbers; NaN where one is missing.
std::vector<double> numbers_of(const Table& table, std::size_t column) {
  std::vector<double> values(static_cast<std::size_t>(table.rows()), kNone);
  const TableContents& contents = *table.contents();
  const bool dates = table.columns()[column].type == ColumnType::date_time;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view text = table.text(row, column);
    if (text.empty()) continue;
    double& value = values[static_cast<std::size_t>(row)];
    if (dates) {
      const auto date = date_of(text, contents.dates[column]);
      if (date) value = static_cast<double>(date->day) + date->seconds / 86400;
    } else {
      value = number_of(text, contents.readings[column].format).value_or(kNone);
    }
  }
  return values;
}

/// A column's texts as numbers from 0, in the order in which they occur, booleans as 0 and 1; -1
/// where one is missing.
std::vector<int> labels_of(const Table& table, std::size_t column) {
  std::vector<int> labels(static_cast<std::size_t>(table.rows()), -1);
  const bool booleans = table.columns()[column].type == ColumnType::boolean;
  std::unordered_map<std::string_view, int> known;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view text = table.text(row, column);
    if (text.empty()) continue;
    const std::optional<bool> answer = booleans ? boolean_of(text) : std::nullopt;
    labels[static_cast<std::size_t>(row)] =
        answer ? (*answer ? 1 : 0)
               : known.emplace(text, static_cast<int>(known.size())).first->second;
  }
  return labels;
}

/// Numbers as the tenth of the rows that they lie in; -1 where one is missing.
std::vector<int> tenths_of(const std::vector<double>& values) {
  const std::vector<double> ranks = mid_ranks(values);
  const auto count =
      static_cast<double>(std::ranges::count_if(values, [](double v) { return std::isfinite(v); }));
  std::vector<int> tenths;
  for (std::size_t i = 0; i < values.size(); ++i) {
    tenths.push_back(
        std::isfinite(values[i]) ? std::min(9, static_cast<int>(10 * (ranks[i] - 1) / count)) : -1);
  }
  return tenths;
}

void survey_numbers(const Table& table, std::size_t column, ColumnSurvey& survey) {
  const std::vector<double> values = numbers_of(table, column);
  std::int64_t count = 0;
  std::size_t least = 0;
  std::size_t most = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (std::isnan(value)) continue;
    if (!std::isfinite(value)) {
      ++survey.not_finite;
      continue;
    }
    if (count == 0 || value < values[least]) least = i;
    if (count == 0 || value > values[most]) most = i;
    ++count;
    const auto n = static_cast<double>(count);
    survey.mean += value / n - survey.mean / n;  // a difference of large numbers overflows
  }
  if (count == 0) return;
  survey.numbers = true;
  survey.least = values[least];
  survey.most = values[most];
  if (survey.type == ColumnType::date_time) {
    survey.first = table.text(static_cast<std::int64_t>(least), column);
    survey.last = table.text(static_cast<std::int64_t>(most), column);
  }
  double sum = 0;
  // Half of everything where the range itself overflows.
  const double unit = std::isfinite(survey.most - survey.least) ? 1 : 0.5;
  const double width = (unit * survey.most - unit * survey.least) / kHistogramBins;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += (value - survey.mean) * (value - survey.mean);
    const double bin = width > 0 ? (unit * value - unit * survey.least) / width : 0;
    ++survey.histogram[std::min(static_cast<std::size_t>(bin), kHistogramBins - 1)];
  }
  survey.std = std::sqrt(sum / static_cast<double>(count));
  survey.box = box_of(values);
}

void survey_texts(const Table& table, std::size_t column, ColumnSurvey& survey) {
  std::map<std::string_view, std::int64_t> counts;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const std::string_view text = table.text(row, column);
    if (!text.empty()) ++counts[text];
  }
  survey.frequent.assign(counts.begin(), counts.end());
  std::ranges::stable_sort(survey.frequent, std::greater(),
                           [](const auto& of) { return of.second; });
  if (survey.frequent.size() > kMostFrequent) survey.frequent.resize(kMostFrequent);
}

/// Pairs of which both are there.
template <class T, class There>
void keep_pairs(std::vector<T>& x, std::vector<T>& y, const There& there) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!there(x[i]) || !there(y[i])) continue;
    x[kept] = x[i];
    y[kept++] = y[i];
  }
  x.resize(kept);
  y.resize(kept);
}

/// Adds the logistic correlation of numbers with two classes; of more, nothing.
void add_logistic(std::vector<double> numbers, const std::vector<int>& labels,
                  ColumnSurvey& survey) {
  if (labels.empty() || *std::ranges::max_element(labels) != 1) return;
  std::vector<double> is_one(labels.size(), kNone);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0) is_one[i] = labels[i];
  }
  keep_pairs(numbers, is_one, [](double v) { return std::isfinite(v); });
  const Correlation of = logistic_correlation(numbers, is_one);
  if (!std::isnan(of.r)) survey.correlations.push_back(of);
}

void correlate(const Table& table, std::size_t column, std::size_t target, ColumnSurvey& survey) {
  const ColumnType type = table.columns()[column].type;
  const ColumnType of_target = table.columns()[target].type;
  if (type == ColumnType::constant || type == ColumnType::identifier) return;
  if (has_order(type) && has_order(of_target)) {
    std::vector<double> x = numbers_of(table, column);
    std::vector<double> y = numbers_of(table, target);
    keep_pairs(x, y, [](double v) { return std::isfinite(v); });
    survey.pearson = pearson(x, y);
    survey.spearman = pearson(mid_ranks(x), mid_ranks(y));
    survey.correlations = correlations_of_numbers(x, y);
    return;
  }
  const auto classes = [&](std::size_t of) {
    return has_order(table.columns()[of].type) ? tenths_of(numbers_of(table, of))
                                               : labels_of(table, of);
  };
  std::vector<int> x = classes(column);
  std::vector<int> y = classes(target);
  keep_pairs(x, y, [](int v) { return v >= 0; });
  survey.cramers_v = cramers_v(x, y);
  if (has_order(type) != has_order(of_target)) {
    const bool number_first = has_order(type);
    add_logistic(numbers_of(table, number_first ? column : target),
                 labels_of(table, number_first ? target : column), survey);
  }
}

}  // namespace

double pearson(const std::vector<double>& x, const std::vector<double>& y) {
  const auto count = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / count;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / count;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kNone;
}

std::vector<double> mid_ranks(const std::vector<double>& x) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i])) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return x[i]; });
  std::vector<double> ranks(x.size(), kNone);
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && x[order[end]] == x[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) ranks[order[k]] = static_cast<double>(i + end + 1) / 2;
    i = end;
  }
  return ranks;
}

double cramers_v(const std::vector<int>& x, const std::vector<int>& y) {
  std::map<std::pair<int, int>, double> both;
  std::map<int, double> of_x;
  std::map<int, double> of_y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ++both[{x[i], y[i]}];
    ++of_x[x[i]];
    ++of_y[y[i]];
  }
  const double least = static_cast<double>(std::min(of_x.size(), of_y.size()));
  if (least < 2) return kNone;
  const auto count = static_cast<double>(x.size());
  double sum = 0;  // of observed^2 / expected, which is count + chi squared
  for (const auto& [pair, observed] : both) {
    sum += observed * observed * count / (of_x[pair.first] * of_y[pair.second]);
  }
  return std::sqrt(std::max(0.0, sum - count) / count / (least - 1));
}

std::vector<ColumnSurvey> survey_table(const Table& table, std::size_t target) {
  std::vector<ColumnSurvey> all;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const TableColumn& column = table.columns()[i];
    ColumnSurvey survey{.name = column.name,
                        .type = column.type,
                        .missing = column.missing,
                        .distinct = column.distinct};
    if (has_order(column.type)) survey_numbers(table, i, survey);
    if (is_text(column.type)) survey_texts(table, i, survey);
    if (target < table.columns().size() && i != target) correlate(table, i, target, survey);
    all.push_back(std::move(survey));
  }
  return all;
}

}  // namespace linnet
