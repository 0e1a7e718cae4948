// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/targets.h"
#include "fixtures.h"
#include "graph/interpreter.h"
#include "networks/networks.h"
#include "train/early_stopping.h"

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
std::vector<double> descend(Model& model, const Dataset& data, std::int64_t batch, double rate,
                            double warmup_steps = 1) {
  const std::vector<float> start = all_weights(model);
  std::vector<double> w(start.begin(), start.end());
  const Tensor samples = first_input(data);
  const std::span<const float> values = values_of(data);
  const std::int64_t n = data.size();
  for (std::int64_t begin = 0; begin < n; begin += batch) {
    const std::int64_t end = std::min(n, begin + batch);
    std::vector<double> g(6, 0.0);
    for (std::int64_t i = begin; i < end; ++i) {
      for (std::int64_t o = 0; o < 2; ++o) {
        double y = w[static_cast<std::size_t>(4 + o)];
        for (std::int64_t k = 0; k < 2; ++k) {
          y += w[static_cast<std::size_t>(o * 2 + k)] *
               samples.as<float>()[static_cast<std::size_t>(i * 2 + k)];
        }
        const double slope = 2 * (y - values[static_cast<std::size_t>(i * 2 + o)]) /
                             static_cast<double>((end - begin) * 2);
        for (std::int64_t k = 0; k < 2; ++k) {
          g[static_cast<std::size_t>(o * 2 + k)] +=
              slope * samples.as<float>()[static_cast<std::size_t>(i * 2 + k)];
        }
        g[static_cast<std::size_t>(4 + o)] += slope;
      }
    }
    const auto step = static_cast<double>(begin / batch);
    for (std::size_t p = 0; p < 6; ++p) {
      w[p] -= rate * std::min((step + 1) / warmup_steps, 1.0) * g[p];
    }
  }
  return w;
}

TEST(Trainer, TheLastIncompleteBatchIsExact) {
  const Dataset data = sums_data(11);
  for (std::int64_t batch : {1, 2, 4, 5, 8, 11, 32}) {
    Model model(line(), {.seed = 2});
    const std::vector<double> expected = descend(model, data, batch, 0.1);
    const History history = train(
        model, data,
        {.epochs = 1, .batch = batch, .optimizer = SGD{.learning_rate = 0.1}, .shuffle = false});
    EXPECT_EQ(history.epochs[0].train.samples, 11);
    const std::vector<float> actual = all_weights(model);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6) << batch;
  }
}

TEST(Trainer, EveryStepHasItsOwnRate) {
  const Dataset data = sums_data(11);
  for (std::int64_t batch : {1, 2, 4}) {
    Model model(line(), {.seed = 2});
    const auto steps = static_cast<double>((11 + batch - 1) / batch);
    const std::vector<double> expected = descend(model, data, batch, 0.3, steps);
    train(model, data,
          {.epochs = 1,
           .batch = batch,
           .optimizer = SGD{.learning_rate = 0.3},
           .warmup = {.epochs = 1},
           .shuffle = false});
    const std::vector<float> actual = parameter(model, "d.weight");
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6) << batch;
  }
}

TEST(Trainer, PatienceCountsEpochsWithoutAGain) {
  const auto report = [](double train, double test, double validation) {
    EpochReport r;
    r.train = {.loss = train, .samples = 1};
    if (test > 0) r.test = {.loss = test, .samples = 1};
    if (validation > 0) r.validation = {.loss = validation, .samples = 1};
    return r;
  };
  const auto stops_after = [](EarlyStopping& patience, const EpochReport& epoch) {
    patience.improved(epoch);
    return patience.exhausted();
  };
  EarlyStopping validation(2);
  EXPECT_FALSE(stops_after(validation, report(9, 9, 1.0)));
  EXPECT_FALSE(stops_after(validation, report(8, 8, 1.1)));
  EXPECT_FALSE(stops_after(validation, report(7, 7, 0.9)));
  EXPECT_FALSE(stops_after(validation, report(6, 6, 0.9)));
  EXPECT_TRUE(stops_after(validation, report(5, 5, 1.0)));
  EarlyStopping test(1);
  EXPECT_FALSE(stops_after(test, report(9, 1, 0)));
  EXPECT_TRUE(stops_after(test, report(8, 2, 0)));
  EarlyStopping training(1);
  EXPECT_FALSE(stops_after(training, report(2, 0, 0)));
  EXPECT_FALSE(stops_after(training, report(1, 0, 0)));
  EXPECT_TRUE(stops_after(training, report(1, 0, 0)));
  EarlyStopping never(0);
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(stops_after(never, report(1, 0, 0)));
}

/// A network whose answer is known: it always says class 1.
TEST(Evaluate, AccuracyAndLossAreMeansOverTheSamples) {
  const Dataset data = circle_data(37);
  for (bool softmax : {false, true}) {
    Network network({2}, {Dense{.units = 2, .weight_init = kZeros, .name = "d"}});
    if (softmax) network.add(Softmax{});
    Model model(network);
    set_parameter(model, "d.bias", {0, 1});
    const auto inside = static_cast<double>(std::ranges::count(labels_of(data), 1));
    const Evaluation result = evaluate(model, data, Loss::automatic, 8);
    EXPECT_EQ(result.samples, 37);
    EXPECT_DOUBLE_EQ(result.accuracy, inside / 37);
    EXPECT_NEAR(result.loss, std::log(1 + std::exp(1.0)) - inside / 37, 1e-6);
  }
}

TEST(Evaluate, RegressionLossesAreTheirFormulas) {
  const Dataset data = sums_data(19);
  Model model(Network({2}, {Dense{.units = 2, .weight_init = kZeros}}));
  double squares = 0;
  double magnitudes = 0;
  for (float v : values_of(data)) {
    squares += static_cast<double>(v) * v / 38;
    magnitudes += std::abs(static_cast<double>(v)) / 38;
  }
  EXPECT_NEAR(evaluate(model, data, Loss::mse, 8).loss, squares, 1e-6);
  EXPECT_NEAR(evaluate(model, data, Loss::mae, 8).loss, magnitudes, 1e-6);
  EXPECT_TRUE(std::isnan(evaluate(model, data, Loss::mse).accuracy));
  first_input(data).as_writable<float>()[3] = std::nanf("");
  EXPECT_TRUE(std::isnan(evaluate(model, data, Loss::mse, 8).loss));
}

TEST(Evaluate, NeitherDropsNorLearns) {
  Network network({2}, {Dense{.units = 8}, BatchNorm{.name = "norm"}});
  Network dropping = network;
  dropping.add(Dropout{.rate = 0.9}).add(Dense{.units = 2, .name = "head"});
  network.add(Dense{.units = 2, .name = "head"});
  Model plain(network, {.seed = 3});
  Model model(dropping, {.seed = 3});
  const Dataset data = sums_data(50);
  const std::vector<float> mean = parameter(model, "norm.running_mean");
  EXPECT_EQ(vector_of(model.predict(data)), vector_of(plain.predict(data)));
  EXPECT_EQ(evaluate(model, data).loss, evaluate(plain, data).loss);
  EXPECT_EQ(parameter(model, "norm.running_mean"), mean);
}

TEST(Predict, GivesEverySampleItsOutputsWhateverTheBatch) {
  const Dataset data = sums_data(11);
  Model model(line(), {.seed = 2});
  const std::vector<float> w = parameter(model, "d.weight");
  for (std::int64_t batch : {1, 4, 11, 32}) {
    const std::vector<float> y = vector_of(model.predict(data, batch));
    ASSERT_EQ(y.size(), 22U);
    for (std::size_t i = 0; i < 22; ++i) {
      const float* x = &first_input(data).as<float>()[i / 2 * 2];
      EXPECT_NEAR(y[i], w[i % 2 * 2] * x[0] + w[i % 2 * 2 + 1] * x[1], 1e-6) << batch;
    }
  }
}

TEST(Predict, ProbabilitiesAreTheSoftmaxOfWhateverTheNetworkEndsIn) {
  const Dataset data = sums_data(11);
  Network logits({2}, {Dense{.units = 3}});
  Network probabilities = logits;
  Network log_probabilities = logits;
  probabilities.add(Softmax{});
  log_probabilities.add(LogSoftmax{});
  const std::vector<float> z = vector_of(Model(logits).predict(data));
  for (const Network& network : {logits, probabilities, log_probabilities}) {
    const std::vector<float> p = vector_of(Model(network).predict_probabilities(data, 4));
    for (std::size_t i = 0; i < z.size(); ++i) {
      const std::size_t row = i / 3 * 3;
      const double sum = std::exp(z[row]) + std::exp(z[row + 1]) + std::exp(z[row + 2]);
      EXPECT_NEAR(p[i], std::exp(z[i]) / sum, 1e-6);
    }
  }
}

TEST(Trainer, PlannedMemoryIsWhatTheSummarySays) {
  const Dataset data = datasets::digits(32, 0, 1).train;
  Model model(workloads::mnist_cnn());
  const History history = train(model, data, {.epochs = 1, .batch = 32});
  const NetworkSummary summary = summarize(workloads::mnist_cnn(), 32, {.epochs = 1, .batch = 32});
  EXPECT_NEAR(static_cast<double>(history.planned_bytes),
              static_cast<double>(summary.training.total() - summary.training.data),
              256);  // alignment
}

TEST(Trainer, ClassNamesComeWithTheData) {
  Dataset data = circle_data(20);
  data.set_classes({"out", "in"});
  Model model(line());
  train(model, data, {.epochs = 1});
  EXPECT_EQ(model.class_names(), data.classes());
}

TEST(Trainer, EveryEpochSeesEverySampleOnceInAnotherOrder) {
  // With a rate of 0 the loss is that of the whole data, whatever the order.
  const Dataset data = sums_data(37);
  Model model(line());
  const History history =
      train(model, data, {.epochs = 3, .batch = 8, .optimizer = SGD{.learning_rate = 0}});
  const double whole = evaluate(model, data).loss;
  ASSERT_EQ(history.epochs.size(), 3U);
  for (const EpochReport& epoch : history.epochs) EXPECT_NEAR(epoch.train.loss, whole, 1e-6);
  EXPECT_NE(history.epochs[0].step_losses, history.epochs[1].step_losses);
  EXPECT_NE(history.epochs[1].step_losses, history.epochs[2].step_losses);
  const History in_order =
      train(model, data,
            {.epochs = 2, .batch = 8, .optimizer = SGD{.learning_rate = 0}, .shuffle = false});
  EXPECT_EQ(in_order.epochs[0].step_losses, in_order.epochs[1].step_losses);
}

TEST(Trainer, TheValidationPartIsHeldOut) {
  const Dataset data = sums_data(100);
  const auto [training, validation] = data.split(0.25);
  Model model(line());
  const History history = train(model, {.train = training, .validation = validation},
                                {.epochs = 2, .batch = 16, .optimizer = SGD{.learning_rate = 0}});
  EXPECT_EQ(history.epochs[0].train.samples, 75);
  EXPECT_EQ(history.epochs[0].validation.samples, 25);
  const double whole = evaluate(model, data).loss;
  for (const EpochReport& epoch : history.epochs) {
    EXPECT_NEAR(0.75 * epoch.train.loss + 0.25 * epoch.validation.loss, whole, 1e-6);
  }
}

TEST(Trainer, AValidationPartOfItsOwnKeepsTheTestPartForTheEnd) {
  const Splits parts{.train = sums_data(60, 1),
                     .validation = sums_data(12, 3),
                     .test = sums_data(20, 2)};
  Model model(line());
  const TrainingOptions options{.epochs = 3, .batch = 16, .optimizer = SGD{.learning_rate = 0.1}};
  const History history = train(model, parts, options);
  ASSERT_EQ(history.epochs.size(), 3U);
  for (const EpochReport& epoch : history.epochs) {
    EXPECT_EQ(epoch.train.samples, 60);
    EXPECT_EQ(epoch.validation.samples, 12);
    EXPECT_EQ(epoch.test.samples, epoch.epoch == 3 ? 20 : 0);
  }
  EXPECT_NEAR(history.epochs[2].validation.loss, evaluate(model, parts.validation).loss, 1e-6);
  EXPECT_NEAR(history.epochs[2].test.loss, evaluate(model, parts.test).loss, 1e-6);

  Model still(line());
  const History stopped =
      train(still, parts,
            {.epochs = 50, .batch = 16, .optimizer = SGD{.learning_rate = 0}, .patience = 2});
  EXPECT_TRUE(stopped.stopped_early);
  ASSERT_EQ(stopped.epochs.size(), 3U);
  EXPECT_EQ(stopped.epochs[2].test.samples, 20);

  Model plain(line());
  const History tested = train(plain, {.train = parts.train, .test = parts.test}, options);
  EXPECT_EQ(tested.epochs[0].test.samples, 20);
  EXPECT_EQ(tested.epochs[0].validation.samples, 0);
  EXPECT_EQ(tested.epochs[2].train.loss, history.epochs[2].train.loss);
}

TEST(Trainer, StopsEarlyWhenNothingImproves) {
  const auto [training, validation] = sums_data(64).split(0.2);
  Model model(line());
  const History history =
      train(model, {.train = training, .validation = validation},
            {.epochs = 50, .batch = 16, .optimizer = SGD{.learning_rate = 0}, .patience = 3});
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
  const auto rates = [&](const Schedule& schedule, Warmup warmup = {}) {
    Model model(line());
    std::vector<double> result;
    for (const EpochReport& epoch : train(model, data,
                                          {.epochs = 4,
                                          .batch = 16,
                                          .optimizer = SGD{.learning_rate = 0.1},
                                          .schedule = schedule,
                                          .warmup = warmup})
                                        .epochs) {
      result.push_back(epoch.learning_rate);
    }
    return result;
  };
  EXPECT_EQ(rates({}), (std::vector<double>{0.1, 0.1, 0.1, 0.1}));
  const std::vector<double> steps = rates(StepDecay{.every_epochs = 2, .gamma = 0.5});
  EXPECT_DOUBLE_EQ(steps[1], 0.1);
  EXPECT_DOUBLE_EQ(steps[3], 0.05);
  const std::vector<double> cosine = rates(CosineDecay{});
  EXPECT_GT(cosine[0], cosine[1]);
  EXPECT_LT(cosine[3], 0.01);
  const std::vector<double> warm = rates({}, {.epochs = 2});
  EXPECT_DOUBLE_EQ(warm[0], 0.05);
  EXPECT_DOUBLE_EQ(warm[1], 0.1);
}

TEST(Trainer, BadInputIsOneClearSentence) {
  const Dataset data = sums_data(10);
  EXPECT_EQ(training_error(Network({3}, {Dense{.units = 2}}), data, {}),
            "the network takes samples of (3) but the data set 'data' holds (2)");
  EXPECT_EQ(training_error(Network({2}, {Dense{.units = 3}}), data, {}),
            "the network gives (3) a sample but the data set 'data' has values of (2)");
  EXPECT_EQ(training_error(line(), data, {.epochs = 0}),
            "[fit] expected epochs to be at least 1; got 0");
  EXPECT_EQ(training_error(line(), data, {.batch = 0}),
            "[fit] expected batch to be at least 1; got 0");
  EXPECT_EQ(training_error(line(), data, {.optimizer = Adam{.learning_rate = -1}}),
            "[adam] expected learning_rate to be at least 0 and finite; got -1");
  EXPECT_EQ(training_error(line(), data, {.loss = Loss::cross_entropy}).substr(0, 73),
            "cross-entropy expects labels or values in [0, 1], but the data set 'data'");
  const Dataset empty = circle_data(0);
  EXPECT_EQ(training_error(line(), empty, {}), "the data set 'data' holds no samples");
  EXPECT_EQ(training_error(line(), data, {.patience = -1}),
            "[fit] expected patience to be at least 0; got -1");
  EXPECT_EQ(training_error(line(), data, {.optimizer = SGD{.learning_rate = 0.1, .momentum = 1}}),
            "[sgd] expected momentum to be in [0, 1); got 1");
  EXPECT_EQ(training_error(line(), data,
                           {.optimizer = SGD{.learning_rate = 0.1, .nesterov = true}}),
            "[sgd] nesterov needs a momentum above 0; got 0");
  EXPECT_EQ(training_error(line(), circle_data(10), {.loss = Loss::mse}),
            "this loss expects values; the data set 'data' has labels");
  EXPECT_EQ(
      training_error(Network({2}, {Reshape{.sample = {2, 1}}}), circle_data(10), {}),
      "cross-entropy expects outputs (N, classes); the network gives (10, 2, 1); Flatten or a "
      "global pooling before its last layer makes one row of each sample");
  try {
    Model(Network({3}, {Dense{.units = 2}})).predict(data);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "the network takes samples of (3) but the data set 'data' holds (2)");
  }
  Dataset circle = circle_data(10);
  circle.set_classes({"a", "b", "c"});
  EXPECT_EQ(training_error(line(), circle, {}),
            "the network ends in 2 outputs but the data set 'data' has 3 classes");
}

TEST(Trainer, ALossThatIsNotFiniteIsAnError) {
  EXPECT_EQ(training_error(line(), sums_data(10),
                           {.epochs = 2, .batch = 5, .optimizer = SGD{.learning_rate = 1e30}})
                .find("the output of ["),
            0U);
}

TEST(Trainer, ReportsTheLossOfEveryStep) {
  const Dataset data = circle_data(10);
  Model model(Network({2}, {Dense{.units = 2}}), {.device = "cpu"});
  const History history = train(model, data, {.epochs = 2, .batch = 4});  // 4, 4 and 2 samples
  for (const EpochReport& epoch : history.epochs) {
    ASSERT_EQ(epoch.step_losses.size(), 3U);
    const double mean =
        (4 * epoch.step_losses[0] + 4 * epoch.step_losses[1] + 2 * epoch.step_losses[2]) / 10.0;
    EXPECT_NEAR(mean, epoch.train.loss, 1e-6 * mean);
  }
}

}  // namespace
}  // namespace linnet::testing
