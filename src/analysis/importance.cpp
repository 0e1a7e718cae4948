// SPDX-License-Identifier: Apache-2.0
#include <linnet/importance.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "base/random.h"
#include "describe/nearest.h"
#include "table/dates.h"
#include "table/raw_columns.h"
#include "train/metrics_of_model.h"

namespace linnet {
namespace {

constexpr double kSecondsOfADay = 86400;

void require_table(const Model& model) {
  require(!model.table().empty(),
          "the model did not learn from a table, so it has no columns whose effect could be "
          "measured");
}

/// The input of a data set by its name; nothing where there is none.
const Tensor* input_named(const Dataset& data, std::string_view name) {
  for (const Column& column : data.inputs()) {
    if (column.name == name) return &column.data;
  }
  return nullptr;
}

/// The data set with one raw column of row i taken from row from(i) of `other`.
Dataset with_column(const Dataset& data, const RawColumn& column, const Dataset& other,
                    const std::function<std::size_t(std::size_t)>& from) {
  const auto replaced = [&]<class T>(const Tensor& old, const Tensor& source, std::size_t first,
                                     std::size_t count) {
    const std::span<const T> read = source.as<T>();
    const std::span<const T> kept = old.as<T>();
    std::vector<T> values(kept.begin(), kept.end());
    const auto width = static_cast<std::size_t>(old.shape()[1]);
    for (std::size_t row = 0; row * width < values.size(); ++row) {
      const auto begin = read.begin() + static_cast<std::ptrdiff_t>(from(row) * width + first);
      std::copy_n(begin, count, values.begin() + static_cast<std::ptrdiff_t>(row * width + first));
    }
    return Tensor(std::move(values), old.shape());
  };
  std::vector<Column> inputs = data.inputs();
  for (Column& input : inputs) {
    const Tensor* source = input_named(other, input.name);
    if (input.name == "numbers" && column.width > 0) {
      input.data =
          replaced.template operator()<float>(input.data, *source, column.first, column.width);
    } else if (input.name == "categories" && column.id) {
      input.data = replaced.template operator()<std::int32_t>(input.data, *source, *column.id, 1);
    }
  }
  Dataset changed(std::move(inputs), data.targets(), data.info());
  changed.set_weights(data.weights());
  changed.set_folds(data.folds());
  return changed;
}

struct Score {
  std::string name;
  double value = kUndefined;
};

Score score_of(Model& model, const Dataset& data, std::int64_t batch) {
  const Metrics metrics = measure_for(model, predictions_of(model, data, batch), data);
  switch (metrics.kind) {
    case Metrics::Kind::labels: return {"accuracy", metrics.accuracy};
    case Metrics::Kind::binary: return {"ROC AUC", metrics.auc.mean};
    case Metrics::Kind::values: break;
  }
  return {"R²", metrics.r_squared};
}

/// SciPy's mquantiles of sorted values, whose plotting positions scikit-learn takes.
double quantile(const std::vector<double>& sorted, double p) {
  constexpr double kPosition = 0.4;
  const auto n = static_cast<double>(sorted.size());
  const double at = n * p + kPosition + p * (1 - 2 * kPosition);
  const double below = std::floor(std::clamp(at, 1.0, std::max(n - 1, 1.0)));
  const double part = std::clamp(at - below, 0.0, 1.0);
  const auto i = static_cast<std::size_t>(below);
  return (1 - part) * sorted[i - 1] + part * sorted[std::min(i, sorted.size() - 1)];
}

std::vector<double> number_grid(const Table& rows, std::size_t place,
                                const PartialDependenceOptions& options) {
  std::vector<double> sorted;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    const double value = rows.number(row, place);
    if (!std::isnan(value)) sorted.push_back(value);
  }
  require<DataError>(!sorted.empty(), "the column '{}' of '{}' has no values",
                     rows.columns()[place].name, rows.name());
  std::ranges::sort(sorted);
  const std::set<double> unique(sorted.begin(), sorted.end());
  const double low = quantile(sorted, options.low);
  const double high = quantile(sorted, options.high);
  if (std::ssize(unique) < options.points || !(high > low)) {
    return {unique.begin(), unique.end()};
  }
  std::vector<double> grid;
  for (std::int64_t i = 0; i < options.points; ++i) {
    grid.push_back(low +
                   (high - low) * static_cast<double>(i) / static_cast<double>(options.points - 1));
  }
  return grid;
}

/// Dates of the column, each the nearest to one of equally spaced times, in the order of time.
std::vector<std::string> date_grid(const Table& rows, std::size_t place, const DateInput& input,
                                   std::int64_t points) {
  std::map<double, std::string> texts;  // by days since 1970
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    const std::string_view text = rows.text(row, place);
    const std::optional<DateTime> date = date_of(text, input.reading());
    if (!date) continue;
    texts.try_emplace(static_cast<double>(date->day) + date->seconds / kSecondsOfADay, text);
  }
  require<DataError>(!texts.empty(), "the column '{}' of '{}' has no values",
                     rows.columns()[place].name, rows.name());
  const double first = texts.begin()->first;
  const double last = texts.rbegin()->first;
  std::vector<std::string> grid;
  for (std::int64_t i = 0; i < points; ++i) {
    const double time =
        first + (last - first) * static_cast<double>(i) / static_cast<double>(points - 1);
    auto nearest = texts.lower_bound(time);
    if (nearest == texts.end()) --nearest;
    if (nearest != texts.begin() && time - std::prev(nearest)->first < nearest->first - time) {
      --nearest;
    }
    if (grid.empty() || grid.back() != nearest->second) grid.push_back(nearest->second);
  }
  return grid;
}

/// The most frequent values, in the order of their texts.
std::vector<std::string> text_grid(const Table& rows, std::size_t place, std::int64_t points) {
  std::map<std::string, std::int64_t> counts;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    if (!rows.missing(row, place)) ++counts[std::string(rows.text(row, place))];
  }
  require<DataError>(!counts.empty(), "the column '{}' of '{}' has no values",
                     rows.columns()[place].name, rows.name());
  std::vector<std::pair<std::string, std::int64_t>> all(counts.begin(), counts.end());
  std::ranges::stable_sort(all, std::greater<>(), [](const auto& one) { return one.second; });
  if (std::ssize(all) > points) all.resize(static_cast<std::size_t>(points));
  std::ranges::sort(all);
  std::vector<std::string> texts;
  for (auto& [text, count] : all) texts.push_back(text);
  return texts;
}

Table some_rows(const Table& rows, std::int64_t most) {
  if (most == 0 || rows.rows() <= most) return rows;
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < most; ++i) chosen.push_back(i * rows.rows() / most);
  return rows.take(chosen);
}

}  // namespace

Importance permutation_importance(Model& model, const Table& rows,
                                  const ImportanceOptions& options) {
  require_table(model);
  require(options.repeats >= 1, "expected at least 1 permutation of each column; got {}",
          options.repeats);
  const Dataset data = with_class_names(model.table().transform(rows), model.class_names());
  const Score baseline = score_of(model, data, options.batch);
  require(std::isfinite(baseline.value), "the {} of '{}' is undefined: its target is constant",
          baseline.name, rows.name());
  Importance importance{.score = baseline.name, .baseline = baseline.value};
  const auto count = static_cast<std::uint64_t>(data.size());
  const std::vector<RawColumn> columns = raw_columns(model.table());
  for (const RawColumn& column : columns) importance.columns.push_back({.column = column.name});
  std::int64_t rounds = 0;
  for (bool whole = true; whole && rounds < options.repeats; rounds += whole ? 1 : 0) {
    for (std::size_t place = 0; place < columns.size(); ++place) {
      whole = !options.goes_on || options.goes_on(rounds, static_cast<std::int64_t>(place));
      if (!whole) break;
      const Permutation order(random_key(options.seed, RandomStream::shuffle, place,
                                         static_cast<std::uint64_t>(rounds)),
                              count);
      const Dataset permuted = with_column(data, columns[place], data, [&](std::size_t row) {
        return static_cast<std::size_t>(order(row));
      });
      importance.columns[place].losses.push_back(baseline.value -
                                                 score_of(model, permuted, options.batch).value);
    }
  }
  for (ColumnImportance& of : importance.columns) {
    of.losses.resize(static_cast<std::size_t>(rounds));
    const auto repeats = static_cast<double>(rounds);
    for (const double loss : of.losses) of.mean += loss / repeats;
    double squares = 0;
    for (const double loss : of.losses) squares += (loss - of.mean) * (loss - of.mean);
    of.std = std::sqrt(squares / repeats);
  }
  return importance;
}

PartialDependence partial_dependence(Model& model, const Table& all_rows, const std::string& column,
                                     const PartialDependenceOptions& options) {
  require_table(model);
  require(options.points >= 2, "expected at least 2 points of partial dependence; got {}",
          options.points);
  require(options.low >= 0 && options.low < options.high && options.high <= 1,
          "expected quantiles 0 <= low < high <= 1; got {} and {}", options.low, options.high);
  const TableTransform& transform = model.table();
  const std::vector<RawColumn> columns = raw_columns(transform);
  const auto found = std::ranges::find(columns, column, &RawColumn::name);
  if (found == columns.end()) {
    std::vector<std::string> names;
    for (const RawColumn& one : columns) names.push_back(one.name);
    fail("the model reads no column '{}'{}", column, did_you_mean(column, names));
  }
  const std::size_t place = place_in(transform, all_rows, column);
  PartialDependence result{.column = column};
  if (std::holds_alternative<NumberInput>(found->input)) {
    result.values = number_grid(all_rows, place, options);
    for (const double value : result.values) result.texts.push_back(fmt::format("{}", value));
  } else if (const auto* date = std::get_if<DateInput>(&found->input)) {
    result.texts = date_grid(all_rows, place, *date, options.points);
  } else {
    result.texts = text_grid(all_rows, place, options.points);
  }
  std::vector<std::vector<std::string>> grid;
  for (const std::string& text : result.texts) {
    grid.emplace_back(columns.size());
    grid.back()[static_cast<std::size_t>(found - columns.begin())] = text;
  }
  const Dataset points = inputs_of_texts(transform, grid, "the values of " + column);
  const Dataset data = transform.inputs(some_rows(all_rows, options.most_rows));
  const Answers answers = model.answers();
  const bool probable = answers == Answers::classes || answers == Answers::labels;
  for (std::size_t point = 0; point < grid.size(); ++point) {
    const Dataset set = with_column(data, *found, points, [&](std::size_t) { return point; });
    const Tensor predicted = probable ? model.predict_probabilities(set, options.batch)
                                      : model.predict(set, options.batch);
    const Tensor wide = predicted.to(DType::f64);
    const std::span<const double> outputs = wide.as<double>();
    const auto rows = static_cast<std::size_t>(data.size());
    std::vector<double> means(outputs.size() / rows);
    for (std::size_t i = 0; i < outputs.size(); ++i) means[i % means.size()] += outputs[i];
    for (double& mean : means) mean /= static_cast<double>(rows);
    result.means.push_back(std::move(means));
  }
  result.outputs = model.class_names().empty() ? transform.targets() : model.class_names();
  for (std::size_t i = result.outputs.size(); i < result.means.front().size(); ++i) {
    result.outputs.push_back(std::to_string(i));
  }
  return result;
}

}  // namespace linnet
