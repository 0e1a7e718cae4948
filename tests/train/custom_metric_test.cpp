// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lines.h"
#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

Model model_of(std::int64_t units = 1) {
  return Model(Network({2}, {Dense{.units = units, .name = "d"}}),
               {.device = "cpu", .threads = 2, .seed = 3});
}

Expression difference(const Expression& y, const Expression& t) { return y - t; }

/// R² of outputs of one number: 1 - mean((y - t)²) / (mean(t²) - mean(t)²).
CustomMetric r_squared_metric() {
  CustomMetric metric;
  metric.name = "r2";
  metric.numbers = 3;
  metric.values = [](const Expression& y, const Expression& t) {
    return concat({square(y - t), t, square(t)}, 0);
  };
  metric.result = [](std::span<const double> means) {
    return 1 - means[0] / (means[2] - means[1] * means[1]);
  };
  return metric;
}

CustomMetric mean_metric(std::string name = "mean") {
  CustomMetric metric;
  metric.name = std::move(name);
  metric.values = [](const Expression& y, const Expression&) { return y; };
  return metric;
}

TEST(CustomMetric, IsWhatTheNumbersGiveByHand) {
  const Dataset data = line_data(19);  // batches of 8, 8 and 3
  Model model = model_of();
  set_parameter(model, "d.weight", {1, -0.5F});
  set_parameter(model, "d.bias", {0.25F});
  CustomMetric mae;
  mae.name = "mae";
  mae.values = [](const Expression& y, const Expression& t) { return abs(y - t); };
  CustomMetric rmse;
  rmse.name = "rmse";
  rmse.values = [](const Expression& y, const Expression& t) { return square(y - t); };
  rmse.result = [](std::span<const double> means) { return std::sqrt(means[0]); };
  TrainerOptions options;
  options.metrics = {mae, r_squared_metric(), rmse};
  Trainer trainer(model, {}, options);
  const Evaluation evaluation = trainer.evaluate(data, 8);

  const std::vector<float> x = vector_of(first_input(data));
  const std::vector<float> t = vector_of(first_target(data));
  double absolute = 0, squares = 0, sum = 0, sum_of_squares = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const double y = x[2 * i] - 0.5 * x[2 * i + 1] + 0.25;
    absolute += std::abs(y - t[i]) / 19;
    squares += (y - t[i]) * (y - t[i]) / 19;
    sum += t[i] / 19;
    sum_of_squares += double{t[i]} * t[i] / 19;
  }
  EXPECT_EQ(evaluation.metrics.size(), 3U);
  EXPECT_NEAR(evaluation.metrics.at("mae"), absolute, 1e-6);
  EXPECT_NEAR(evaluation.metrics.at("rmse"), std::sqrt(squares), 1e-6);
  EXPECT_NEAR(evaluation.metrics.at("r2"), 1 - squares / (sum_of_squares - sum * sum), 1e-6);
  EXPECT_NEAR(evaluation.loss, squares, 1e-6);
  EXPECT_EQ(trainer.evaluate(data, 8).metrics, evaluation.metrics);
}

TEST(CustomMetric, GetsLabelsAsOneHotRows) {
  const std::vector<std::int32_t> labels{2, 0, 1, 1, 2};
  const std::vector<float> x{1, 0, 0, 1, -1, 1, 0.5F, 2, -2, 1};
  const Dataset data = data_of(records(x, {2}), records(labels));
  Model model = model_of(3);
  const std::vector<float> w{1, 2, -1, 0.5F, 0, 1};
  set_parameter(model, "d.weight", w);
  set_parameter(model, "d.bias", {0, 0.5F, -0.5F});
  CustomMetric brier;
  brier.name = "brier";
  brier.values = [](const Expression& y, const Expression& t) {
    return sum(square(softmax(y) - t));
  };
  TrainerOptions options;
  options.metrics = {brier};
  Trainer trainer(model, {}, options);
  double expected = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    double p[3], total = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const double bias[] = {0, 0.5, -0.5};
      p[c] = std::exp(w[2 * c] * x[2 * i] + w[2 * c + 1] * x[2 * i + 1] + bias[c]);
      total += p[c];
    }
    for (std::size_t c = 0; c < 3; ++c) {
      const double d = p[c] / total - (labels[i] == static_cast<std::int32_t>(c) ? 1 : 0);
      expected += d * d / 5;
    }
  }
  EXPECT_NEAR(trainer.evaluate(data, 2).metrics.at("brier"), expected, 1e-6);
}

TEST(CustomMetric, IsOfTheOutputThatItNames) {
  FunctionalNetwork f;
  const Expression x = f.input("x", {2});
  Model model(f.build({{"a", x | Dense{.units = 1, .name = "a"}},
                       {"b", x | Dense{.units = 1, .name = "b"}}}),
              {.device = "cpu"});
  set_parameter(model, "b.weight", {0, 0});
  set_parameter(model, "b.bias", {3});
  const Dataset lines = line_data(6);
  const Dataset both({{"x", first_input(lines)}},
                     {{"a", first_target(lines)}, {"b", records(std::vector<float>(6, 1), {1})}});
  CustomMetric metric;
  metric.name = "off";
  metric.values = difference;
  metric.output = "b";
  TrainerOptions options;
  options.metrics = {metric};
  Trainer trainer(model, {}, options);
  EXPECT_NEAR(trainer.evaluate(both).metrics.at("off"), 2, 1e-6);
  EXPECT_EQ(message_of([&] {
              trainer.evaluate(Dataset({{"x", first_input(lines)}}, {{"a", first_target(lines)}}));
            }),
            "the metric 'off' needs targets for the output 'b', which the data set does not have");
}

TEST(CustomMetric, FitMeasuresItOnHeldOutData) {
  const Dataset data = line_data(40);
  TrainerOptions options;
  options.metrics = {r_squared_metric()};
  Trainer trainer(model_of(), {.optimizer = SGD{.learning_rate = 0.1}}, options);
  const History history = trainer.fit(data.rows(0, 24), {.epochs = 3,
                                                         .batch = 8,
                                                         .validation = data.rows(24, 40),
                                                         .test = data.rows(30, 40)});
  const EpochReport& last = history.epochs.back();
  EXPECT_EQ(last.validation.metrics, trainer.evaluate(data.rows(24, 40), 8).metrics);
  EXPECT_EQ(last.test.metrics, trainer.evaluate(data.rows(30, 40), 8).metrics);
  EXPECT_NE(last.test.metrics, last.validation.metrics);
  EXPECT_TRUE(last.train.metrics.empty());
  EXPECT_LT(history.epochs[0].validation.metrics.at("r2"), last.validation.metrics.at("r2"));
}

TEST(CustomMetric, MayBeWatched) {
  // The outputs' mean rises from 0.5 towards that of the targets, 4.
  const Dataset data =
      data_of(records(std::vector<float>(32, 0), {2}), records(std::vector<float>(16, 4), {1}));
  const auto fit = [&](Better better) {
    Model model = model_of();
    set_parameter(model, "d.bias", {0.5F});
    TrainerOptions options;
    options.metrics = {mean_metric()};
    Trainer trainer(model, {.optimizer = SGD{.learning_rate = 0.05}}, options);
    FitOptions how{.epochs = 8, .batch = 16, .validation = data, .patience = 2, .keep_best = true};
    how.watch = {.metric = "mean", .better = better};
    const History history = trainer.fit(data, how);
    Trainer best(trainer.best(), {}, options);
    return std::pair(history, best.evaluate(data).metrics.at("mean"));
  };
  const auto [small, first] = fit(Better::smaller);
  EXPECT_TRUE(small.stopped_early);
  ASSERT_EQ(small.epochs.size(), 3U);
  EXPECT_EQ(first, small.epochs[0].validation.metrics.at("mean"));
  const auto [large, last] = fit(Better::larger);
  EXPECT_FALSE(large.stopped_early);
  ASSERT_EQ(large.epochs.size(), 8U);
  EXPECT_EQ(last, large.epochs[7].validation.metrics.at("mean"));
}

TEST(CustomMetric, WhatCannotBeWatchedIsRefused) {
  const Dataset data = line_data(8);
  const auto refusal = [&](const Watch& watch, const Dataset& validation) {
    TrainerOptions options;
    options.metrics = {mean_metric()};
    Trainer trainer(model_of(), {}, options);
    FitOptions how{.epochs = 1, .validation = validation};
    how.watch = watch;
    return message_of([&] { trainer.fit(data, how); });
  };
  EXPECT_EQ(refusal({.metric = "f1"}, data),
            "the watched 'f1' is not the loss, the accuracy or a metric of the trainer");
  EXPECT_EQ(refusal({.metric = "mean"}, {}),
            "watching the metric 'mean' needs a validation or a test set; got neither");
  EXPECT_EQ(refusal({.metric = "accuracy", .better = Better::larger}, data),
            "watching the accuracy needs labels; the targets are values");
  EXPECT_EQ(refusal({.metric = "mean"}, data), "");
}

TEST(CustomMetric, BadOnesAreNamed) {
  const auto refusal = [](std::vector<CustomMetric> metrics) {
    return message_of([&] {
      TrainerOptions options;
      options.metrics = std::move(metrics);
      Trainer trainer(model_of(), {}, options);
      trainer.evaluate(line_data(4));
    });
  };
  EXPECT_EQ(refusal({mean_metric("")}), "a metric has no name");
  EXPECT_EQ(refusal({mean_metric("loss")}),
            "the metric name 'loss' is reserved for every evaluation; choose another name");
  EXPECT_EQ(refusal({mean_metric("a"), mean_metric("a")}), "two metrics are called 'a'");
  CustomMetric metric;
  metric.name = "m";
  EXPECT_EQ(refusal({metric}), "the metric 'm' has no function");
  metric.values = difference;
  metric.output = "other";
  EXPECT_EQ(refusal({metric}),
            "the metric 'm' names the output 'other', which the network does not have");
  metric.output = "";
  metric.numbers = 33;
  EXPECT_EQ(refusal({metric}), "");  // the mean of all needs one place
  metric.result = [](std::span<const double> means) { return means[0]; };
  EXPECT_EQ(refusal({metric}),
            "all metrics together have 33 numbers a sample; expected at most 32");
  metric.numbers = 2;
  EXPECT_EQ(
      refusal({metric}),
      "the metric 'm' expected 2 numbers a sample (CustomMetric::numbers); its values are (1)");
}

}  // namespace
}  // namespace linnet::testing
