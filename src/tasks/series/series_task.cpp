// SPDX-License-Identifier: Apache-2.0
#include <linnet/layers.h>
#include <linnet/series_task.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "describe/nearest.h"
#include "series/fit_series.h"
#include "series/window_contents.h"
#include "tasks/series/ridge_start.h"
#include "tasks/task_recipe.h"

namespace linnet {
namespace {

constexpr std::array<std::string_view, 4> kNetworks{"mlp", "conv1d", "gru", "lstm"};
constexpr double kLearningRate = 1e-3;
constexpr double kEmbeddingStd = 0.1;
constexpr double kHeadStd = 0.01;  // a network begins near persistence

TaskSizes sizes_for(std::int64_t windows) {
  if (windows < 1000) return {32, 0.1, {16, 200, 25}};
  if (windows < 5000) return {64, 0.1, {32, 120, 15}};
  if (windows < 50000) return {128, 0.1, {64, 60, 8}};
  return {128, 0.1, {256, 40, 5}};
}

/// The steps of the past as networks take them: targets with a trend as differences from their last
/// value, in the unit of their changes.
Expression steps_of(const Expression& past, const SeriesRecord& record) {
  const auto targets = std::ssize(record.targets);
  const bool any = std::ranges::any_of(record.targets, &SeriesTarget::trend);
  if (!any) return past;
  const Expression last = slice(past, 0, record.past - 1);  // (1, channels)
  std::vector<Expression> parts;
  for (std::int64_t i = 0; i < targets; ++i) {
    const auto place = static_cast<std::size_t>(i);
    Expression steps = slice(past, 1, i, i + 1);
    if (record.targets[place].trend) {
      steps = (steps - slice(last, 1, i, i + 1)) |
              Rescale{.scale = record.inputs[place].std / record.targets[place].change, .shift = 0};
    }
    parts.push_back(steps);
  }
  if (record.channels() > targets) parts.push_back(slice(past, 1, targets));
  return parts.size() == 1 ? parts[0] : concat(parts, 1);
}

Expression encoded(const Expression& steps, SeriesNetwork kind, const TaskSizes& sizes) {
  switch (kind) {
    case SeriesNetwork::mlp: return steps | Flatten{};
    case SeriesNetwork::conv1d: {
      const std::int64_t filters = sizes.units / 2;
      const std::int64_t stride = steps.shape()[0] >= 8 ? 2 : 1;
      return steps | Conv1d{.filters = filters, .kernel = 3, .padding = Padding2d::same()} |
             ReLU{} |
             Conv1d{.filters = filters,
                    .kernel = 3,
                    .stride = stride,
                    .padding = Padding2d::same()} |
             ReLU{} | Flatten{};
    }
    case SeriesNetwork::gru: return steps | GRU{.units = sizes.units};
    case SeriesNetwork::lstm: return steps | LSTM{.units = sizes.units};
  }
  fail("there is no such network");
}

/// Returns how many numbers stand for the series of a window.
std::int64_t entity_length(const SeriesTransform& transform) {
  return transform.entities() > 0 ? std::clamp<std::int64_t>(transform.entities() / 2, 2, 16) : 0;
}

SeriesFit fit_of(const SeriesTaskOptions& options) {
  return {.targets = options.targets,
          .time = options.time,
          .entity = options.entity,
          .past = options.past,
          .future = options.future,
          .known = options.known,
          .ignore = options.ignore,
          .season = options.season,
          .step = options.step,
          .same_time = options.same_time,
          .off_step = options.off_step,
          .validation = options.validation,
          .test = options.test};
}

using Starts = std::vector<std::int64_t>;

/// The windows of the three parts, by the times of their forecasts.
struct PartStarts {
  Starts train;
  Starts validation;
  Starts test;
};

PartStarts parts_of(const WindowContents& contents, const FittedSeries& fitted) {
  const SeriesRecord& record = *contents.record;
  PartStarts parts;
  for (const std::int64_t start : complete_windows(contents)) {
    const std::int64_t first = contents.time_of(start + record.past);
    const std::int64_t last = contents.time_of(start + record.past + record.future - 1);
    if (last < fitted.validation_from) {
      parts.train.push_back(start);
    } else if (first >= fitted.validation_from && last < fitted.test_from) {
      parts.validation.push_back(start);
    } else if (first >= fitted.test_from) {
      parts.test.push_back(start);
    }
  }
  return parts;
}

void check_part(const Starts& starts, double share, const char* name, const Table& table,
                const SeriesTaskOptions& options) {
  require<DataError>(share == 0 || !starts.empty(),
                     "the {} set of '{}' has no window of {} steps and {} steps after them that "
                     "have all targets: {} rows in all; expected more rows, or a shorter past or "
                     "future",
                     name, table.name(), options.past, options.future, table.rows());
}

}  // namespace

std::vector<std::string_view> series_network_names() {
  return {kNetworks.begin(), kNetworks.end()};
}

Network series_network(const SeriesTransform& transform, SeriesNetwork kind, std::int64_t windows) {
  require(!transform.empty(), "the series transform is empty; series_task() makes one");
  const SeriesRecord& record = *transform.record();
  const TaskSizes sizes = sizes_for(windows);
  FunctionalNetwork functional;
  const Expression past = functional.input("past", {record.past, record.channels()});
  const Expression steps = steps_of(past, record);
  std::vector<Expression> parts{encoded(steps, kind, sizes)};
  std::vector<Expression> linear_parts{steps | Flatten{}};
  const auto add = [&](const Expression& part) {
    parts.push_back(part);
    linear_parts.push_back(part);
  };
  if (record.known_channels() > 0) {
    add(functional.input("future", {record.future, record.known_channels()}) | Flatten{});
  }
  if (transform.entities() > 0) {
    add(functional.input("entity", {1}, DType::i32) |
        Embedding{.vocabulary = transform.entities(),
                  .features = entity_length(transform),
                  .weight_init = {Initializer::Kind::normal, kEmbeddingStd}} |
        Flatten{});
  }
  const auto joined = [](const std::vector<Expression>& all) {
    return all.size() == 1 ? all[0] : concat(all, 0);
  };
  Expression x = joined(parts);
  const Expression linear = joined(linear_parts);
  const int layers = kind == SeriesNetwork::mlp ? 2 : 1;
  for (int layer = 0; layer < layers; ++layer) {
    x = x | Dense{.units = sizes.units} | ReLU{} | Dropout{.rate = sizes.dropout};
  }
  std::vector<std::pair<std::string, Expression>> outputs;
  for (std::size_t i = 0; i < record.targets.size(); ++i) {
    const auto channel = static_cast<std::int64_t>(i);
    const Expression last =
        reshape(slice(slice(past, 0, record.past - 1), 1, channel, channel + 1), {1}) |
        Rescale{.scale = record.inputs[i].std,
                .shift = record.inputs[i].mean - record.targets[i].offset};
    Dense linear_dense{.units = record.future, .bias = false, .weight_init = kZeros};
    if (begins_as_ridge(record, i)) {
      linear_dense.bias = true;
      linear_dense.name = linear_layer(channel);
    }
    const Expression change =
        ((x | Dense{.units = record.future, .weight_init = {Initializer::Kind::normal, kHeadStd}}) +
         (linear | linear_dense)) |
        Rescale{.scale = record.targets[i].change, .shift = 0};
    outputs.emplace_back(record.inputs[i].column, change + last);
  }
  return functional.build(outputs);
}

TrainingOptions series_training(const SeriesTransform& transform, std::int64_t windows) {
  TrainingOptions training = training_by(sizes_for(windows).recipe, kLearningRate);
  if (transform.empty()) return training;
  const SeriesRecord& record = *transform.record();
  for (std::size_t i = 0; i < record.targets.size(); ++i) {
    const double change = record.targets[i].change;
    OutputLoss loss;
    loss.output = record.inputs[i].column;
    loss.loss = Loss::mse;
    loss.weight = 1 / (change * change * static_cast<double>(record.targets.size()));
    training.output_losses.push_back(loss);
  }
  return training;
}

SeriesTask series_task(const Table& table, const SeriesTaskOptions& options) {
  FittedSeries fitted = fit_series(table, fit_of(options));
  SeriesTask task{.transform = SeriesTransform(fitted.record), .network = Network({1})};
  const std::shared_ptr<const WindowContents> contents = read_series(table, fitted.record);
  PartStarts parts = parts_of(*contents, fitted);
  check_part(parts.train, 1, "training", table, options);
  check_part(parts.validation, options.validation, "validation", table, options);
  check_part(parts.test, options.test, "test", table, options);
  const auto windows = [&](Starts& starts) {
    return SeriesWindows(contents, std::make_shared<const Starts>(std::move(starts)));
  };
  const SeriesWindows train = windows(parts.train);
  task.validation = windows(parts.validation);
  task.test = windows(parts.test);
  const auto data = [](const SeriesWindows& of) { return of.size() > 0 ? of.data() : Dataset(); };
  task.data = {.train = data(train), .validation = data(task.validation), .test = data(task.test)};
  task.notes = table.notes();
  for (const std::string& note : contents->notes) task.notes.push_back(note);
  for (const std::string& note : fitted.notes) task.notes.push_back(note);
  const SeriesRecord& record = *fitted.record;
  task.notes.push_back(fmt::format(
      "forecasts {} for the next {} of {} from the last {}; {}{}; {} train, {} validate, {} test",
      quoted(task.transform.targets()), counted(record.future, "step"), step_text(record),
      record.past, counted(record.channels(), "channel"),
      record.entity.empty() ? "" : fmt::format(", {} series", contents->parts.size()),
      counted(train.size(), "window"), task.validation.size(), task.test.size()));
  task.network = series_network(task.transform, options.network, train.size());
  task.training = series_training(task.transform, train.size());
  task.training.seed = options.seed;
  task.weights = ridge_start(train, entity_length(task.transform));
  return task;
}

}  // namespace linnet
