// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lines.h"
#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

Model model_of() {
  return Model(Network({2}, {Dense{.units = 8}, Tanh{}, Dense{.units = 1}}),
               {.device = "cpu", .threads = 2, .seed = 3});
}

/// Hears of everything.
struct Listener : Callback {
  void on_batch(const StepResult& step) override {
    steps.push_back(step.step());
    losses.push_back(step.loss());
    order += 'b';
  }
  void on_epoch(const EpochReport& report) override {
    epochs.push_back(report);
    order += 'e';
  }
  void on_end(const History& history) override {
    at_end = history.epochs.size();
    order += '.';
  }
  bool stop_requested() override { return stop; }
  std::vector<std::uint64_t> steps;
  std::vector<float> losses;
  std::vector<EpochReport> epochs;
  std::size_t at_end = 0;
  bool stop = false;
  std::string order;
};

TEST(Callback, HearsOfEveryBatchEpochAndTheEnd) {
  const Dataset data = line_data(20);
  Listener listener;
  Trainer trainer(model_of(), {.optimizer = Adam{.learning_rate = 0.01}}, {.seed = 1});
  const History history = trainer.fit(data, {.epochs = 2, .batch = 8, .callback = &listener});
  EXPECT_EQ(listener.order, "bbbebbbe.");
  EXPECT_EQ(listener.at_end, 2U);
  EXPECT_TRUE(listener.epochs[0].complete && listener.epochs[1].complete);
  EXPECT_EQ(listener.steps, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  std::vector<float> losses = history.epochs[0].step_losses;
  losses.insert(losses.end(), history.epochs[1].step_losses.begin(),
                history.epochs[1].step_losses.end());
  EXPECT_EQ(listener.losses, losses);
  trainer.fit(data, {.epochs = 1, .batch = 10, .callback = &listener});
  EXPECT_EQ(listener.order, "bbbebbbe.bbe.");
  EXPECT_EQ(listener.steps.back(), 7U);
}

/// Asks for a stop once it has heard of an epoch.
struct StopsAfterEpoch : Callback {
  void on_epoch(const EpochReport& /*report*/) override { ++epochs; }
  void on_stop() override { ++stops; }
  bool stop_requested() override { return epochs > 0; }
  int epochs = 0;
  int stops = 0;
};

TEST(Callback, AStopAfterAnEpochDoesNoStepMore) {
  const Dataset data = line_data(20);
  for (const bool validates : {false, true}) {
    Trainer trainer(model_of(), {.optimizer = Adam{.learning_rate = 0.01}}, {.seed = 1});
    StopsAfterEpoch stopping;
    FitOptions options{.epochs = 3, .batch = 8, .callback = &stopping};
    options.test = line_data(6);
    if (validates) options.validation = line_data(4);
    const History history = trainer.fit(data, options);
    EXPECT_TRUE(history.interrupted);
    ASSERT_EQ(history.epochs.size(), 1U);
    EXPECT_TRUE(history.epochs[0].complete);
    EXPECT_EQ(history.epochs[0].train.samples, 20);
    EXPECT_EQ(history.epochs[0].test.samples, 6);
    EXPECT_EQ(stopping.epochs, 1);
    EXPECT_EQ(stopping.stops, 1);
  }
}

/// Asks for a stop at the first question after so many steps.
struct StopsAfterSteps : Callback {
  explicit StopsAfterSteps(int most) : left(most) {}
  void on_batch(const StepResult& /*step*/) override { --left; }
  bool stop_requested() override { return left <= 0; }
  int left;
};

TEST(Callback, AnEpochThatIsCutShortIsNoBestOneUnlessItIsTheFirst) {
  const Dataset data = line_data(200);
  for (const int steps : {1, 11, 21}) {  // of 10 in an epoch
    StopsAfterSteps stops(steps);
    Model model = model_of();
    TrainingOptions options{.epochs = 5, .batch = 20, .keep_best = true};
    options.optimizer = Adam{.learning_rate = 0.01};
    const History history = train(model, data, options, &data, &stops);
    ASSERT_FALSE(history.epochs.back().complete);
    const auto whole = static_cast<std::int64_t>(history.epochs.size()) - 1;
    ASSERT_EQ(whole, steps / 10);
    Model again = model_of();
    if (whole == 0) {  // of its part alone
      StopsAfterSteps same(steps);
      train(again, data, options, &data, &same);
    } else {
      TrainingOptions shorter = options;
      shorter.epochs = whole;
      train(again, data, shorter, &data);
      EXPECT_LT(history.epochs.back().test.loss, history.epochs[0].test.loss);
    }
    EXPECT_EQ(all_weights(model), all_weights(again)) << steps;
    EXPECT_NE(history.notes.back().find(fmt::format("epoch {},", std::max<std::int64_t>(whole, 1))),
              std::string::npos)
        << history.notes.back();
  }
}

TEST(Callback, AStopAfterTheLastEpochInterruptsNothing) {
  const Dataset data = line_data(20);
  Trainer trainer(model_of(), {.optimizer = Adam{.learning_rate = 0.01}}, {.seed = 1});
  StopsAfterEpoch stopping;
  EXPECT_FALSE(trainer.fit(data, {.epochs = 1, .batch = 8, .callback = &stopping}).interrupted);
}

TEST(Callback, ChangesNoBits) {
  const Dataset data = line_data(20);
  const auto trained = [&](Callback* callback) {
    Trainer trainer(model_of(), {.optimizer = Adam{.learning_rate = 0.01}}, {.seed = 1});
    trainer.fit(data, {.epochs = 3, .batch = 8, .callback = callback});
    return all_weights(trainer.model());
  };
  const std::vector<float> wanted = trained(nullptr);
  Listener listener;
  EXPECT_EQ(trained(&listener), wanted);
  Callback deaf;
  EXPECT_EQ(trained(&deaf), wanted);
}

TEST(Callback, IsAskedOnceWhetherItHearsBatches) {
  struct Epochs : Callback {
    void on_epoch(const EpochReport& /*report*/) override { ++epochs; }
    int epochs = 0;
  } epochs;
  Listener listener;
  EXPECT_TRUE(epochs.hears_batches());
  Trainer trainer(model_of());
  trainer.fit(line_data(20), {.epochs = 2, .batch = 8, .callback = &epochs});
  EXPECT_FALSE(epochs.hears_batches());
  EXPECT_EQ(epochs.epochs, 2);
  trainer.fit(line_data(20), {.epochs = 1, .batch = 8, .callback = &listener});
  EXPECT_TRUE(listener.hears_batches());
}

TEST(Callback, HearsTheEndOfAFitThatWasStoppedAndNotOfOneThatFailed) {
  Listener listener;
  listener.stop = true;
  Trainer trainer(model_of());
  trainer.fit(line_data(20), {.epochs = 9, .batch = 8, .callback = &listener});
  EXPECT_EQ(listener.at_end, 1U);
  EXPECT_LT(listener.epochs[0].train.samples, 20);
  EXPECT_FALSE(listener.epochs[0].complete);
  Listener other;
  Trainer failing(model_of(), {.optimizer = SGD{.learning_rate = 1e30}});
  EXPECT_NE(message_of(
                [&] { failing.fit(line_data(20), {.epochs = 9, .batch = 2, .callback = &other}); }),
            "");
  EXPECT_EQ(other.order.find('.'), std::string::npos);
}

TEST(LogCallback, WritesLinesWhereItIsTold) {
  std::vector<std::string> lines;
  LogCallback log([&](std::string_view line) { lines.emplace_back(line); }, 2);
  const Dataset data = line_data(20);
  TrainerOptions options;
  options.metrics = {{.name = "mae", .values = [](const Expression& y, const Expression& t) {
                        return abs(y - t);
                      }}};
  Trainer trainer(model_of(), {}, options);
  const History history =
      trainer.fit(data, {.epochs = 1, .batch = 8, .validation = data, .callback = &log});
  ASSERT_EQ(lines.size(), 3U);
  char expected[200];
  std::snprintf(expected, sizeof expected, "step 2  loss %.4f",
                static_cast<double>(history.epochs[0].step_losses[1]));
  EXPECT_EQ(lines[0], expected);
  const Evaluation& held_out = history.epochs[0].validation;
  std::snprintf(expected, sizeof expected, "epoch 1/1  loss %.4f  validation loss %.4f  mae %.4g  ",
                history.epochs[0].train.loss, held_out.loss, held_out.metrics.at("mae"));
  EXPECT_EQ(lines[1].substr(0, std::string(expected).size()), expected);
  EXPECT_EQ(lines[2].substr(0, 17), "done; 1 epochs in");
  EXPECT_EQ(message_of([] { LogCallback({}, -1); }),
            "expected a log line every 0 (none) or more steps; got -1");
}

TEST(LogCallback, HearsNoBatchesUnlessItWritesOfThem) {
  int lines = 0;
  LogCallback log([&](std::string_view) { ++lines; });
  Trainer trainer(model_of());
  trainer.fit(line_data(20), {.epochs = 2, .batch = 8, .callback = &log});
  EXPECT_FALSE(log.hears_batches());
  EXPECT_EQ(lines, 3);
}

class CountingLog : public LogCallback {
 public:
  using LogCallback::LogCallback;
  void on_batch(const StepResult& step) override {
    LogCallback::on_batch(step);
    ++heard;
  }
  int heard = 0;
};

TEST(LogCallback, WhatIsDerivedFromItHearsEveryBatch) {
  CountingLog log([](std::string_view) {});
  Trainer trainer(model_of());
  trainer.fit(line_data(20), {.epochs = 2, .batch = 8, .callback = &log});
  EXPECT_EQ(log.heard, 6);
}

}  // namespace
}  // namespace linnet::testing
