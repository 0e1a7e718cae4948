// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fixtures.h"
#include "graph/interpreter.h"

namespace linnet::testing {
namespace {

Network line() { return Network({2}, {Dense{.units = 2, .name = "d"}}); }

std::string training_error(const Network& network, const Dataset& data,
                           const TrainingOptions& options) {
  try {
    Model model(network);
    train(model, data, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Gradient descent by hand, in double, in the order of the data: what an epoch with an incomplete
/// last batch must compute.
std::vector<double> descend(Model& model, const Dataset& data, std::int64_t batch, double rate) {
  std::vector<double> w;
  for (const char* name : {"d.weight", "d.bias"}) {
    for (float v : model.parameter(name)) w.push_back(v);
  }
  const std::int64_t n = data.size();
  for (std::int64_t begin = 0; begin < n; begin += batch) {
    const std::int64_t end = std::min(n, begin + batch);
    std::vector<double> g(6, 0.0);
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t o = 0; o < 2; ++o) {
        double y = w[static_cast<std::size_t>(4 + o)];
        for (std::int64_t k = 0; k < 2; ++k) {
          y += w[static_cast<std::size_t>(o * 2 + k)] *
               data.floats[static_cast<std::size_t>(i * 2 + k)];
        }
        const double slope = 2 * (y - data.values[static_cast<std::size_t>(i * 2 + o)]) /
                             static_cast<double>((end - begin) * 2);
        for (std::int64_t k = 0; k < 2; ++k) {
          g[static_cast<std::size_t>(o * 2 + k)] +=
              slope * data.floats[static_cast<std::size_t>(i * 2 + k)];
        }
        g[static_cast<std::size_t>(4 + o)] += slope;
      }
    }
    for (std::size_t p = 0; p < 6; ++p) w[p] -= rate * g[p];
  }
  return w;
}

TEST(Trainer, TheLastIncompleteBatchIsExact) {
  const Dataset data = sums_data(11);
  for (std::int64_t batch : {1, 4, 5, 11, 32}) {
    Model model(line(), {.seed = 2});
    const std::vector<double> expected = descend(model, data, batch, 0.1);
    const History history = train(
        model, data, {.epochs = 1, .batch = batch, .optimizer = sgd(0.1), .shuffle = false});
    EXPECT_EQ(history.epochs[0].train.samples, 11);
    std::vector<float> actual = model.parameter("d.weight");
    const std::vector<float> bias = model.parameter("d.bias");
    actual.insert(actual.end(), bias.begin(), bias.end());
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6) << batch;
  }
}

TEST(Trainer, EveryEpochSeesEverySampleOnceInAnotherOrder) {
  // With a rate of 0 the loss is that of the whole data, whatever the order.
  const Dataset data = sums_data(37);
  Model model(line());
  const History history = train(model, data, {.epochs = 3, .batch = 8, .optimizer = sgd(0)});
  const double whole = evaluate(model, data).loss;
  for (const EpochReport& epoch : history.epochs) EXPECT_NEAR(epoch.train.loss, whole, 1e-6);
}

TEST(Trainer, TheValidationPartIsHeldOut) {
  Dataset data = sums_data(100);
  Model model(line());
  const History history =
      train(model, data, {.epochs = 2, .batch = 16, .optimizer = sgd(0), .validation = 0.25});
  EXPECT_EQ(history.epochs[0].train.samples, 75);
  EXPECT_EQ(history.epochs[0].validation.samples, 25);
  const double whole = evaluate(model, data).loss;
  for (const EpochReport& epoch : history.epochs) {
    EXPECT_NEAR(0.75 * epoch.train.loss + 0.25 * epoch.validation.loss, whole, 1e-6);
  }
}

TEST(Trainer, StopsEarlyWhenNothingImproves) {
  const Dataset data = sums_data(64);
  Model model(line());
  const History history = train(
      model, data, {.epochs = 50, .batch = 16, .optimizer = sgd(0), .validation = 0.2, .patience = 3});
  EXPECT_TRUE(history.stopped_early);
  EXPECT_LE(history.epochs.size(), 5U);
}

TEST(Trainer, ACallbackCanStopIt) {
  struct Stop final : Callback {
    bool stop_requested() override { return true; }
    void on_epoch(const EpochReport&) override { ++epochs; }
    int epochs = 0;
  } stop;
  const Dataset data = sums_data(64);
  Model model(line());
  const History history = train(model, data, {.epochs = 50, .batch = 4}, nullptr, &stop);
  EXPECT_TRUE(history.interrupted);
  EXPECT_EQ(history.epochs.size(), 1U);
  EXPECT_EQ(stop.epochs, 1);
  EXPECT_LT(history.epochs[0].train.samples, 64);
}

TEST(Trainer, ProgressGrowsToTheWholeEpoch) {
  struct Watch final : Callback {
    void on_progress(const Progress& progress) override {
      EXPECT_GT(progress.samples_done, 0);
      EXPECT_GE(progress.seconds_left, 0);
      last = progress;
    }
    Progress last;
  } watch;
  const Dataset data = sums_data(64);
  Model model(line());
  train(model, data, {.epochs = 2, .batch = 5}, nullptr, &watch);
  EXPECT_EQ(watch.last.epoch, 2);
  EXPECT_EQ(watch.last.samples_done, 64);
  EXPECT_EQ(watch.last.seconds_left, 0);
}

TEST(Trainer, SchedulesSetTheRate) {
  const Dataset data = sums_data(64);
  const auto rates = [&](Schedule schedule) {
    Optimizer optimizer = sgd(0.1);
    optimizer.schedule = schedule;
    Model model(line());
    std::vector<double> result;
    for (const EpochReport& epoch :
         train(model, data, {.epochs = 4, .batch = 16, .optimizer = optimizer}).epochs) {
      result.push_back(epoch.learning_rate);
    }
    return result;
  };
  using Kind = Schedule::Kind;
  EXPECT_EQ(rates({}), (std::vector<double>{0.1, 0.1, 0.1, 0.1}));
  const std::vector<double> steps =
      rates({.kind = Kind::step, .every_epochs = 2, .gamma = 0.5});
  EXPECT_DOUBLE_EQ(steps[1], 0.1);
  EXPECT_DOUBLE_EQ(steps[3], 0.05);
  const std::vector<double> cosine = rates({.kind = Kind::cosine});
  EXPECT_GT(cosine[0], cosine[1]);
  EXPECT_LT(cosine[3], 0.01);
  const std::vector<double> warm = rates({.warmup_epochs = 2});
  EXPECT_DOUBLE_EQ(warm[0], 0.05);
  EXPECT_DOUBLE_EQ(warm[1], 0.1);
}

TEST(Trainer, BadInputIsOneClearSentence) {
  const Dataset data = sums_data(10);
  EXPECT_EQ(training_error(Network({3}, {Dense{.units = 2}}), data, {}),
            "the network takes samples of (3) but the data set '" + data.name + "' holds (2)");
  EXPECT_EQ(training_error(Network({2}, {Dense{.units = 3}}), data, {}),
            "the network gives (3) a sample but the data set '" + data.name +
                "' has values of (2)");
  EXPECT_EQ(training_error(line(), data, {.epochs = 0}), "expected at least 1 epoch; got 0");
  EXPECT_EQ(training_error(line(), data, {.batch = 0}), "expected a batch of at least 1; got 0");
  EXPECT_EQ(training_error(line(), data, {.validation = 1}),
            "the validation part must lie in [0, 1); got 1");
  EXPECT_EQ(training_error(line(), data, {.optimizer = adam(-1)}),
            "the optimizer's learning rate must not be negative; got -1");
  EXPECT_EQ(training_error(line(), data, {.loss = Loss::cross_entropy}),
            "cross-entropy wants labels, but the data set '" + data.name + "' has values");
  Dataset circle = circle_data(10);
  circle.class_names = {"a", "b", "c"};
  EXPECT_EQ(training_error(line(), circle, {}),
            "the network ends in 2 outputs but the data set '" + circle.name + "' has 3 classes");
}

TEST(Trainer, ALossThatIsNotFiniteIsAnError) {
  Dataset data = sums_data(10);
  data.floats[3] = std::nanf("");
  EXPECT_EQ(training_error(line(), data, {.epochs = 2, .batch = 5}).find(
                "the loss became NaN or infinite in epoch 1 before sample"),
            0U);
}

}  // namespace
}  // namespace linnet::testing
