// SPDX-License-Identifier: Apache-2.0
#include <linnet/optimize_inputs.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "analysis/input_search.h"
#include "analysis/search_constraints.h"
#include "base/check.h"
#include "describe/nearest.h"
#include "table/raw_columns.h"
#include "table/values.h"

namespace linnet {
namespace {

void require_table(const Model& model) {
  require(!model.table().empty(),
          "the model did not learn from a table, so it has no columns to search");
}

std::vector<std::string> texts_of(const Table& rows, std::size_t place) {
  constexpr std::size_t kMost = 1000;
  std::set<std::string> texts;
  for (std::int64_t row = 0; row < rows.rows() && texts.size() < kMost; ++row) {
    if (!rows.missing(row, place)) texts.emplace(rows.text(row, place));
  }
  return {texts.begin(), texts.end()};
}

bool are_zero_and_one(const std::vector<std::string>& texts) {
  return std::ranges::all_of(texts, [](const std::string& t) { return t == "0" || t == "1"; });
}

/// The range of a column of numbers. Throws where it has no values.
void add_range(SearchColumn& column, const Table& rows, std::size_t place) {
  column.low = std::numeric_limits<double>::infinity();
  column.high = -column.low;
  column.integer = rows.columns()[place].type == ColumnType::integer;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    const double value = rows.number(row, place);
    if (std::isnan(value)) continue;
    column.low = std::min(column.low, value);
    column.high = std::max(column.high, value);
  }
}

/// Asks the model for the outputs of the search's points.
class TableOutputs {
 public:
  TableOutputs(Model& model, const std::vector<SearchColumn>& columns, std::int64_t batch)
      : model_(model), columns_(columns), batch_(batch) {
    const Answers answers = model.answers();
    probable_ = answers == Answers::classes || answers == Answers::labels;
    for (const RawColumn& raw : raw_columns(model.table())) {
      const auto found = std::ranges::find(columns, raw.name, &SearchColumn::name);
      places_.push_back(static_cast<std::size_t>(found - columns.begin()));
    }
  }

  std::vector<std::string> texts(const std::vector<double>& point) const {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      texts.push_back(columns_[i].choices.empty()
                          ? fmt::format("{}", point[i])
                          : columns_[i].choices[static_cast<std::size_t>(point[i])]);
    }
    return texts;
  }

  /// (points, outputs). Always predicts whole batches, so that one program is enough.
  std::vector<std::vector<double>> operator()(const std::vector<std::vector<double>>& points) {
    std::vector<std::vector<std::string>> rows;
    const auto batch = static_cast<std::size_t>(batch_);
    const std::size_t padded = (points.size() + batch - 1) / batch * batch;
    for (std::size_t i = 0; i < padded; ++i) {
      const std::vector<std::string> all = texts(points[std::min(i, points.size() - 1)]);
      rows.emplace_back();
      for (const std::size_t place : places_) {
        rows.back().push_back(place < all.size() ? all[place] : "");
      }
    }
    const Dataset data = inputs_of_texts(model_.table(), rows, "the searched inputs");
    const Tensor predicted =
        probable_ ? model_.predict_probabilities(data, batch_) : model_.predict(data, batch_);
    const Tensor wide = predicted.to(DType::f64);
    const std::span<const double> numbers = wide.as<double>();
    const std::size_t width = numbers.size() / padded;
    std::vector<std::vector<double>> outputs;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::span<const double> row = numbers.subspan(i * width, width);
      outputs.emplace_back(row.begin(), row.end());
    }
    return outputs;
  }

 private:
  Model& model_;
  const std::vector<SearchColumn>& columns_;
  std::int64_t batch_;
  bool probable_ = false;
  std::vector<std::size_t> places_;  // in columns_, by raw column
};

std::vector<std::string> output_names(const Model& model, std::size_t outputs) {
  std::vector<std::string> names = model.class_names();
  if (names.empty()) names = model.table().targets();
  for (std::size_t i = names.size(); i < outputs; ++i) names.push_back(fmt::format("output_{}", i));
  names.resize(outputs);
  return names;
}

/// Narrows the range of a column of whole numbers to those. Throws where there are none.
void keep_whole_numbers(SearchColumn& column) {
  if (!column.integer || !column.choices.empty()) return;
  const double low = std::ceil(column.low - 1e-9);
  const double high = std::floor(column.high + 1e-9);
  require(low <= high, "the column '{}' holds whole numbers, and none lies between {} and {}",
          column.name, column.low, column.high);
  column.low = low;
  column.high = high;
}

void check_columns(const Model& model, const std::vector<SearchColumn>& columns) {
  for (const RawColumn& raw : raw_columns(model.table())) {
    require(std::ranges::find(columns, raw.name, &SearchColumn::name) != columns.end(),
            "the model reads the column '{}', which is not among the searched ones", raw.name);
  }
  for (const SearchColumn& column : columns) {
    require(!column.choices.empty() || (std::isfinite(column.low) && std::isfinite(column.high) &&
                                        column.low <= column.high),
            "the column '{}' is searched from {} to {}; expected finite numbers in order",
            column.name, column.low, column.high);
  }
}

}  // namespace

std::vector<SearchColumn> search_columns(const Model& model, const Table& rows) {
  require_table(model);
  std::vector<SearchColumn> columns;
  for (const RawColumn& raw : raw_columns(model.table())) {
    const std::size_t place = place_in(model.table(), rows, raw.name);
    SearchColumn column{.name = raw.name};
    const auto* category = std::get_if<CategoryInput>(&raw.input);
    if (category != nullptr) {
      column.choices = category->categories;
    } else if (std::holds_alternative<NumberInput>(raw.input)) {
      add_range(column, rows, place);
    } else {
      column.choices = texts_of(rows, place);
      if (std::holds_alternative<BooleanInput>(raw.input) && !column.choices.empty() &&
          are_zero_and_one(column.choices)) {
        column = {.name = raw.name, .low = 0, .high = 1, .integer = true, .choices = {}};
      }
    }
    require<DataError>(!column.choices.empty() || column.low <= column.high,
                       "the column '{}' of '{}' has no values", raw.name, rows.name());
    columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<SearchColumn> search_columns(const Model& model) {
  require_table(model);
  std::vector<SearchColumn> columns;
  for (const RawColumn& raw : raw_columns(model.table())) {
    SearchColumn column{.name = raw.name};
    if (const auto* number = std::get_if<NumberInput>(&raw.input)) {
      require(
          !number->range.empty(),
          "an older version wrote the model, which does not say between which values '{}' lies; "
          "search with a table of rows",
          raw.name);
      column.low = number->range[0];
      column.high = number->range[1];
      column.integer = number->integer;
    } else if (const auto* category = std::get_if<CategoryInput>(&raw.input)) {
      column.choices = category->categories;
    } else {
      require(
          std::holds_alternative<BooleanInput>(raw.input),
          "the column '{}' holds dates, of which the model keeps no values; search with a table "
          "of rows",
          raw.name);
      column.high = 1;
      column.integer = true;
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

OptimizeResult optimize_inputs(Model& model, const std::vector<SearchColumn>& given,
                               const OptimizeOptions& options) {
  require_table(model);
  require(!options.goals.empty() && options.goals.size() <= 2,
          "expected one goal, or two for a Pareto front; got {}", options.goals.size());
  require(options.population >= 4 && options.generations >= 1,
          "expected a population of at least 4 over at least 1 generation; got {} and {}",
          options.population, options.generations);
  check_columns(model, given);
  std::vector<SearchColumn> columns = given;
  for (SearchColumn& column : columns) keep_whole_numbers(column);
  const auto outputs = static_cast<std::size_t>(model.network().output_shape().elements());
  OptimizeResult result;
  result.outputs = output_names(model, outputs);
  for (const SearchColumn& column : columns) result.columns.push_back(column.name);
  std::vector<std::string> names = result.columns;
  names.insert(names.end(), result.outputs.begin(), result.outputs.end());

  InputSearch::Problem problem;
  read_constraints(options.constraints, names, columns, problem);
  for (const SearchColumn& column : columns) {
    const auto choices = static_cast<double>(column.choices.size());
    problem.variables.push_back(column.choices.empty()
                                    ? SearchVariable{column.low, column.high, column.integer, false}
                                    : SearchVariable{0, choices - 1, true, true});
  }
  for (const SearchGoal& goal : options.goals) {
    const LinearExpression wanted = linear_expression(goal.of, names);
    require(!wanted.terms.empty(), "the goal '{}' names no output and no column; {}", goal.of,
            result.outputs.size() == 1 ? fmt::format("the output is '{}'", result.outputs[0])
                                       : fmt::format("the outputs are {}", listed(result.outputs)));
    for (const auto& [variable, coefficient] : wanted.terms) {
      require(variable >= columns.size() || columns[variable].choices.empty(),
              "the goal '{}' computes with the column '{}', which is not a number", goal.of,
              names[variable]);
    }
    require(goal.kind != SearchGoal::Kind::target || std::isfinite(goal.value),
            "the target of '{}' is not finite", goal.of);
    problem.goals.push_back({wanted, goal.kind, goal.value});
  }
  TableOutputs ask(model, columns, options.population);
  problem.outputs = [&](const std::vector<std::vector<double>>& points) { return ask(points); };
  InputSearch search(std::move(problem), static_cast<std::size_t>(options.population),
                     options.seed);
  for (const SearchPoint& point : search.run(options.generations)) {
    OptimizedInputs found;
    found.inputs = ask.texts(point.inputs);
    found.outputs = point.outputs;
    found.goals = search.goals_of(point);
    result.best.push_back(std::move(found));
  }
  result.evaluations = search.evaluations();
  return result;
}

}  // namespace linnet
