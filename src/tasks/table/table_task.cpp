// SPDX-License-Identifier: Apache-2.0
#include <linnet/table_task.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/check.h"
#include "base/counted.h"
#include "describe/nearest.h"
#include "table/transform_record.h"
#include "tasks/split_task.h"
#include "tasks/table/networks.h"
#include "tasks/table/table_split.h"
#include "tasks/task_recipe.h"

namespace linnet {
namespace {

constexpr double kLearningRate = 1e-3;
constexpr double kLargestRate = 1e-2;  // of a cycle
constexpr double kAverage = 0.998;

/// The rows that a training can use.
std::vector<std::int64_t> usable_rows(const Table& table, const std::vector<std::size_t>& targets,
                                      const TableTaskOptions& options,
                                      std::vector<std::string>& notes) {
  std::vector<std::int64_t> rows;
  std::int64_t no_target = 0;
  std::int64_t dropped = 0;
  std::vector<bool> read(table.columns().size(), true);
  for (const std::string& name : options.transform.ignore) read[table.find(name)] = false;
  const auto misses = [&](std::int64_t row) {
    for (std::size_t i = 0; i < read.size(); ++i) {
      const ColumnType type = table.columns()[i].type;
      const bool told = type != ColumnType::constant && type != ColumnType::identifier;
      if (read[i] && told && table.missing(row, i)) return true;
    }
    return false;
  };
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    if (std::ranges::any_of(targets, [&](auto target) { return table.missing(row, target); })) {
      ++no_target;
    } else if (options.transform.missing == MissingValues::drop && misses(row)) {
      ++dropped;
    } else {
      rows.push_back(row);
    }
  }
  if (no_target > 0)
    notes.push_back(fmt::format("{} rows without a target are left out", no_target));
  if (dropped > 0)
    notes.push_back(fmt::format("{} rows with missing values are left out", dropped));
  require<DataError>(rows.size() >= 2,
                     "'{}' has {} rows that a training can use; expected at least 2", table.name(),
                     rows.size());
  return rows;
}

void add_left_out(const Table& table, const std::vector<std::size_t>& targets,
                  std::vector<std::string>& notes) {
  for (const ColumnType type : {ColumnType::constant, ColumnType::identifier}) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < table.columns().size(); ++i) {
      if (table.columns()[i].type == type && std::ranges::count(targets, i) == 0) {
        names.push_back(table.columns()[i].name);
      }
    }
    if (names.empty()) continue;
    notes.push_back(fmt::format("{} left out: {}",
                                type == ColumnType::constant ? "constant columns are"
                                                             : "columns of identifiers are",
                                quoted(names)));
  }
}

/// Gives the training set folds; what is of one is the validation set.
void hold_out(Splits& data, const std::vector<float>& fold, SplitRows& parts) {
  data.train.set_folds(Tensor(fold, Shape{std::ssize(fold)}));
  std::vector<std::int64_t> held_out;
  for (std::size_t i = 0; i < fold.size(); ++i) {
    if (fold[i] < 0) continue;
    held_out.push_back(static_cast<std::int64_t>(i));
    parts.validation.push_back(parts.train[i]);
  }
  data.validation = data.train.take(held_out);
}

/// Warns of so few validation rows that the score and the choice of the epoch are mostly chance.
void warn_of_few(const TableTask& task, const TableTaskOptions& options,
                 std::vector<std::string>& notes) {
  constexpr std::int64_t kFew = 30;
  const std::int64_t rows = task.data.validation.size();
  if (rows == 0 || rows >= kFew || options.folds > 0) return;
  notes.push_back(fmt::format(
      "warning: only {} the epoch, so scores depend on which rows these are; --folds 5 measures "
      "on each row once",
      rows == 1 ? "1 validation row chooses" : fmt::format("{} validation rows choose", rows)));
}

/// "'species', one of 3 classes,"
std::string what(const TableTransform& transform) {
  constexpr std::size_t kMostNamed = 4;
  const std::vector<std::string> names = transform.targets();
  const std::string all = quoted(names, kMostNamed);
  switch (transform.target_kind()) {
    case TableTarget::classes:
      return fmt::format("{}, one of {} classes,", all, transform.classes().size());
    case TableTarget::labels: return fmt::format("{}, labels of yes or no,", all);
    case TableTarget::novelty: return "how unlike the training rows a row is,";
    case TableTarget::value:
    case TableTarget::automatic: break;
  }
  return fmt::format("{}, {},", all, names.size() == 1 ? "a value" : "values");
}

/// Throws unless a transform that was fitted before predicts these columns.
void check_fitted(const Table& table, const std::vector<std::size_t>& targets,
                  const TableTransform& fitted) {
  std::vector<std::string> names;
  for (const std::size_t target : targets) names.push_back(table.columns()[target].name);
  require(names == fitted.targets(), "the fitted transform predicts {}; got the target {}",
          quoted(fitted.targets()), quoted(names));
}

}  // namespace

TrainingOptions table_training(const TableTransform& transform, std::int64_t rows) {
  const bool cycle = rows >= kRowsOfOneNetwork;
  TrainingOptions training =
      training_by(table_sizes(rows).recipe, cycle ? kLargestRate : kLearningRate);
  if (cycle) {
    training.schedule = OneCycle{};
  } else {
    training.average = {.decay = kAverage, .warmup = true};
  }
  if (transform.target_kind() == TableTarget::classes) return training;
  OutputLoss loss;
  loss.output = "output";
  const std::vector<double> stds = transform.target_stds();
  if (transform.target_kind() == TableTarget::novelty) {
    loss.loss = Loss::mae;  // of the output to 0: the mean squared error of the features
  } else if (stds.empty()) {
    loss.loss = Loss::binary_cross_entropy;
  } else {
    loss.loss = Loss::mse;
    if (stds.size() == 1) loss.weight = 1 / (stds[0] * stds[0]);
    for (std::size_t i = 0; stds.size() > 1 && i < stds.size(); ++i) {
      loss.options.class_weights.push_back(1 / (stds[i] * stds[i]));
    }
  }
  training.output_losses.push_back(loss);
  return training;
}

TableTask table_task(const Table& table, const TableTaskOptions& options) {
  check_split(options);
  const bool fitted = !options.fitted.empty();
  const TableTargets wanted =
      options.target.names.empty() && fitted ? options.fitted.targets() : options.target;
  const TableTarget kind = fitted ? options.fitted.target_kind() : options.transform.target;
  const bool novelty = kind == TableTarget::novelty;
  std::vector<std::size_t> targets;
  if (!novelty) targets = find_targets(table, wanted);
  if (fitted && !novelty) check_fitted(table, targets, options.fitted);
  TableTask task{.transform = options.fitted, .data = {}, .network = Network({1})};
  task.notes = table.notes();
  const std::vector<std::int64_t> rows = usable_rows(table, targets, options, task.notes);
  TableTransformOptions transform = options.transform;
  transform.target =
      fitted || novelty ? kind : kind_of(target_of(table.take(rows), targets, transform.target));
  if (!options.group.empty()) transform.ignore.push_back(options.group);
  std::optional<std::size_t> classes;
  if (transform.target == TableTarget::classes) classes = targets[0];
  const HeldOutFolds folds = held_out_folds(options, std::ssize(rows), novelty);
  TableTaskOptions shares = options;
  if (folds.folds > 1) shares.validation = 0;
  SplitRows parts = split_rows(table, rows, classes, shares, task.notes);
  if (!fitted) {
    task.transform = TableTransform::fit(table.take(parts.train), options.target, transform);
  }
  task.data = {.train = task.transform.transform(table.take(parts.train)),
               .validation = task.transform.transform(table.take(parts.validation)),
               .test = task.transform.transform(table.take(parts.test))};
  if (folds.folds > 1) {
    const std::vector<float> fold =
        folds_of_rows(table, parts.train, options.stratify ? classes : std::nullopt, folds,
                      options.seed);
    hold_out(task.data, fold, parts);
  }
  for (const std::int64_t row : parts.test) task.test_rows.push_back(row + 1);
  for (const std::int64_t row : parts.validation) task.validation_rows.push_back(row + 1);
  add_left_out(table, targets, task.notes);
  task.notes.push_back(
      fmt::format("learns {} from {}{}; {} rows train, {} validate{}, {} test",
                  what(task.transform), counted(task.transform.feature_names().size(), "feature"),
                  task.transform.id_columns() > 0
                      ? " and " + counted(task.transform.id_columns(), "embedded column")
                      : "",
                  task.data.train.size(), task.data.validation.size(),
                  folds.folds > 1 ? " members that do not learn from them" : "",
                  task.data.test.size()));
  warn_of_case(task.transform.classes(), task.notes);
  warn_of_few(task, options, task.notes);
  const std::int64_t trained = task.data.train.size();
  task.network = table_ensemble(task.transform, task.data.train, options.ensemble, folds.folds);
  task.training = table_training(task.transform, trained);
  task.training.seed = options.seed;
  return task;
}

}  // namespace linnet
