// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>
#include <linnet/table_task.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "base/join.h"
#include "base/random.h"
#include "table/transform_record.h"

namespace linnet {
namespace {

/// What the default network and recipe take, by the number of training rows.
struct Sizes {
  std::int64_t units;
  double dropout;
  std::int64_t batch;
  std::int64_t epochs;
  std::int64_t patience;
};

Sizes sizes_for(std::int64_t rows) {
  if (rows < 2000) return {128, 0.05, 16, 400, 40};
  if (rows < 10000) return {128, 0.3, 32, 200, 20};
  if (rows < 100000) return {256, 0.1, 128, 100, 10};
  return {256, 0.1, 512, 60, 6};
}

constexpr double kLearningRate = 1e-3;
constexpr double kWeightDecay = 1e-2;
constexpr double kEmbeddingStd = 0.1;

/// fastai's rule for the length of an embedding.
std::int64_t embedding_length(std::int64_t categories) {
  const double length = std::round(1.6 * std::pow(static_cast<double>(categories), 0.56));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(length), 2, 32);
}

/// The rows of each part, in the table's order.
struct SplitRows {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> validation;
  std::vector<std::int64_t> test;
};

/// Splits one stratum; its last row stays with the training set.
void split(const std::vector<std::int64_t>& rows, const TableTaskOptions& options,
           std::uint64_t key, SplitRows& to) {
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto share = [&](double of) {
    return static_cast<std::int64_t>(std::llround(of * static_cast<double>(count)));
  };
  const std::int64_t test = std::min(share(options.test), count - 1);
  const std::int64_t validation = std::min(share(options.validation), count - 1 - test);
  const Permutation rank(key, rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto place = static_cast<std::int64_t>(rank(i));
    std::vector<std::int64_t>& part = place < test                ? to.test
                                      : place < test + validation ? to.validation
                                                                  : to.train;
    part.push_back(rows[i]);
  }
}

SplitRows split_rows(const Table& table, std::size_t target, bool stratify,
                     const std::vector<std::int64_t>& rows, const TableTaskOptions& options) {
  std::map<std::string_view, std::vector<std::int64_t>> strata;
  for (const std::int64_t row : rows) {
    strata[stratify ? table.text(row, target) : std::string_view()].push_back(row);
  }
  SplitRows parts;
  std::uint64_t stratum = 0;
  for (const auto& [text, of] : strata) {
    split(of, options, random_key(options.seed, RandomStream::split, ++stratum), parts);
  }
  for (auto* part : {&parts.train, &parts.validation, &parts.test}) std::ranges::sort(*part);
  return parts;
}

/// Moves the rows of classes that the training set would lack into it.
void keep_classes(const Table& table, std::size_t target, SplitRows& parts) {
  std::set<std::string_view> known;
  for (const std::int64_t row : parts.train) known.insert(table.text(row, target));
  for (auto* part : {&parts.validation, &parts.test}) {
    const auto unknown = std::stable_partition(part->begin(), part->end(), [&](std::int64_t row) {
      return known.contains(table.text(row, target));
    });
    parts.train.insert(parts.train.end(), unknown, part->end());
    part->erase(unknown, part->end());
  }
  std::ranges::sort(parts.train);
}

/// The rows that a training can use.
std::vector<std::int64_t> usable_rows(const Table& table, std::size_t target,
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
    if (table.missing(row, target)) {
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

void add_left_out(const Table& table, const TableTransform& transform,
                  std::vector<std::string>& notes) {
  for (const ColumnType type : {ColumnType::constant, ColumnType::identifier}) {
    std::vector<std::string> names;
    for (const TableColumn& column : table.columns()) {
      if (column.type == type && column.name != transform.target()) {
        names.push_back(fmt::format("'{}'", column.name));
      }
    }
    if (names.empty()) continue;
    notes.push_back(fmt::format("{} left out: {}",
                                type == ColumnType::constant ? "constant columns are"
                                                             : "columns of identifiers are",
                                join(names, ", ")));
  }
}

}  // namespace

Network table_network(const TableTransform& transform, std::int64_t rows) {
  require(!transform.empty(), "the table transform is empty; TableTransform::fit() makes one");
  const Sizes sizes = sizes_for(rows);
  FunctionalNetwork functional;
  std::vector<Expression> parts;
  const auto features = static_cast<std::int64_t>(transform.feature_names().size());
  if (features > 0) parts.push_back(functional.input("numbers", {features}));
  if (transform.id_columns() > 0) {
    const std::int64_t length = embedding_length(transform.vocabulary() / transform.id_columns());
    parts.push_back(functional.input("categories", {transform.id_columns()}, DType::i32) |
                    Embedding{.vocabulary = transform.vocabulary(),
                              .features = length,
                              .weight_init = {Initializer::Kind::normal, kEmbeddingStd}} |
                    Flatten{});
  }
  Expression x = parts.size() == 1 ? parts[0] : concat(parts, 0);
  for (int layer = 0; layer < 2; ++layer) {
    x = x | Dense{.units = sizes.units} | LayerNorm{} | ReLU{} | Dropout{.rate = sizes.dropout};
  }
  const auto classes = static_cast<std::int64_t>(transform.classes().size());
  if (classes > 0) return functional.build({{"output", x | Dense{.units = classes}}});
  return functional.build(
      {{"output", x | Dense{.units = 1} |
                      Rescale{.scale = transform.target_std(), .shift = transform.target_mean()}}});
}

TrainingOptions table_training(const TableTransform& transform, std::int64_t rows) {
  const Sizes sizes = sizes_for(rows);
  TrainingOptions training;
  training.epochs = sizes.epochs;
  training.batch = sizes.batch;
  training.patience = sizes.patience;
  training.keep_best = true;
  training.optimizer = AdamW{.learning_rate = kLearningRate, .weight_decay = kWeightDecay};
  if (transform.classes().empty()) {
    OutputLoss loss;
    loss.output = "output";
    loss.loss = Loss::mse;
    loss.weight = 1 / (transform.target_std() * transform.target_std());
    training.output_losses.push_back(loss);
  }
  return training;
}

TableTask table_task(const Table& table, const TableTaskOptions& options) {
  require(options.validation >= 0 && options.test >= 0 && options.validation + options.test < 1,
          "validation and test are shares of the rows, together below 1; got {} and {}",
          options.validation, options.test);
  require(!options.target.empty(), "name the target column of '{}'", table.name());
  const std::size_t target = table.find(options.target);
  TableTask task{.transform = {}, .data = {}, .network = Network({1})};
  task.notes = table.notes();
  const std::vector<std::int64_t> rows = usable_rows(table, target, options, task.notes);
  TableTransformOptions transform = options.transform;
  const bool classes =
      std::holds_alternative<ClassTarget>(target_of(table.take(rows), target, transform.target));
  transform.target = classes ? TableTarget::classes : TableTarget::value;
  SplitRows parts = split_rows(table, target, classes && options.stratify, rows, options);
  if (classes) keep_classes(table, target, parts);
  task.transform = TableTransform::fit(table.take(parts.train), options.target, transform);
  task.data = {.train = task.transform.transform(table.take(parts.train)),
               .validation = task.transform.transform(table.take(parts.validation)),
               .test = task.transform.transform(table.take(parts.test))};
  add_left_out(table, task.transform, task.notes);
  const auto features = task.transform.feature_names().size();
  task.notes.push_back(
      fmt::format("learns '{}', {}, from {} features{}; {} rows train, {} validate, {} test",
                  task.transform.target(),
                  classes ? fmt::format("one of {} classes", task.transform.classes().size())
                          : "a value",
                  features,
                  task.transform.id_columns() > 0
                      ? fmt::format(" and {} embedded columns", task.transform.id_columns())
                      : "",
                  task.data.train.size(), task.data.validation.size(), task.data.test.size()));
  const std::int64_t trained = task.data.train.size();
  task.network = table_network(task.transform, trained);
  task.training = table_training(task.transform, trained);
  task.training.seed = options.seed;
  return task;
}

}  // namespace linnet
