// SPDX-License-Identifier: Apache-2.0
// What a callback may do with the trainer that calls it, and what not.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lines.h"
#include "message_of.h"
#include "temporary_folder.h"
#include "weights.h"

namespace linnet::testing {
namespace {

Model model_of() {
  return Model(Network({2}, {Dense{.units = 8}, Tanh{}, Dropout{.rate = 0.2}, Dense{.units = 1}}),
               {.device = "cpu", .threads = 2, .seed = 3});
}

Trainer trainer_of(const Model& model) {
  Objective objective;
  objective.optimizer = Adam{.learning_rate = 0.01};
  objective.average.decay = 0.9;
  TrainerOptions options{.seed = 1};
  options.metrics = {{.name = "mae", .values = [](const Expression& y, const Expression& t) {
                        return abs(y - t);
                      }}};
  return Trainer(model, std::move(objective), options);
}

/// Does the same wherever it is called.
struct Everywhere : Callback {
  explicit Everywhere(std::function<void()> does) : act(std::move(does)) {}
  void on_batch(const StepResult& /*step*/) override { did("batch"); }
  void on_progress(const Progress& /*progress*/) override { did("progress"); }
  void on_evaluation(const EvaluationProgress& /*progress*/) override { did("evaluation"); }
  void on_epoch(const EpochReport& /*report*/) override { did("epoch"); }
  void on_end(const History& /*history*/) override { did("end"); }
  void did(const std::string& where) {
    ++times[where];
    act();
  }
  std::function<void()> act;
  std::map<std::string, int> times;
};

/// All numbers of a fit that do not depend on the time.
std::vector<double> numbers_of(const History& history) {
  std::vector<double> numbers;
  for (const EpochReport& epoch : history.epochs) {
    numbers.insert(numbers.end(), epoch.step_losses.begin(), epoch.step_losses.end());
    numbers.insert(numbers.end(), {epoch.train.loss, static_cast<double>(epoch.train.samples),
                                   epoch.validation.loss, epoch.validation.metrics.at("mae"),
                                   static_cast<double>(epoch.validation.samples)});
  }
  return numbers;
}

struct Fitted {
  std::vector<double> numbers;
  State state;
};

/// Two epochs of 5 batches, two of an update, and a validation of 5 batches.
Fitted fitted(Trainer trainer, Callback* callback, std::int64_t shards = 1) {
  const FitOptions options{.epochs = 2,
                           .batch = 8,
                           .shards = shards,
                           .validation = line_data(35),
                           .keep_best = true,
                           .callback = callback};
  const History history = trainer.fit(line_data(40), options);
  return {numbers_of(history), trainer.state()};
}

TEST(InCallback, WhatOnlyLooksChangesNothing) {
  const Dataset data = line_data(90);
  using Action = std::function<void(Trainer&)>;
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "model.safetensors";
  const std::map<std::string, Action> actions{
      {"evaluate", [&](Trainer& t) { t.evaluate(data, 90); }},
      {"evaluate the model", [&](Trainer& t) { evaluate(t.model(), data); }},
      {"predict", [&](Trainer& t) { t.model().predict(data, 90); }},
      {"value_of", [&](Trainer& t) { t.model().value_of("dense_1", data, 90); }},
      {"input_gradient", [&](Trainer& t) { t.model().input_gradient(data, {}, 90); }},
      {"gradients", [&](Trainer& t) { t.gradients(*t.batches(data, {.size = 70}).begin()); }},
      {"state", [](Trainer& t) { static_cast<void>(t.state()); }},
      {"averaged", [](Trainer& t) { static_cast<void>(t.averaged()); }},
      {"save", [&](Trainer& t) { t.model().save(file); }},
      {"another trainer", [&](Trainer& t) { Trainer(t.model().copy()).fit(data); }},
  };
  for (const std::int64_t shards : {1, 2}) {
    const Fitted quiet = fitted(trainer_of(model_of()), nullptr, shards);
    for (const auto& [name, action] : actions) {
      Trainer trainer = trainer_of(model_of());
      Everywhere callback([&, act = action] { act(trainer); });
      const Fitted heard = fitted(trainer, &callback, shards);
      EXPECT_EQ(heard.numbers, quiet.numbers) << name << ' ' << shards;
      EXPECT_TRUE(same_bits(heard.state, quiet.state)) << name << ' ' << shards;
      for (const char* where : {"batch", "progress", "evaluation", "epoch", "end"}) {
        EXPECT_GT(callback.times[where], 0) << where;
      }
    }
  }
}

TEST(InCallback, WhatTrainsIsRefused) {
  const Dataset data = line_data(20);
  Trainer trainer = trainer_of(model_of());
  const State start = trainer.state();
  const Batch batch = *trainer.batches(data, {.size = 4}).begin();
  const std::map<std::string, std::function<void()>> calls{
      {"fit()", [&] { trainer.fit(data); }},
      {"step()", [&] { trainer.step(batch); }},
      {"minimize()", [&] { trainer.minimize(data); }},
      {"load_state()", [&] { trainer.load_state(start); }},
  };
  const Fitted quiet = fitted(trainer_of(model_of()), nullptr);
  for (const auto& [name, call] : calls) {
    trainer.load_state(start);
    Everywhere callback([&, &name = name, &call = call] {
      EXPECT_EQ(message_of(call),
                "a fit() of this trainer is running; call " + name + " after it has returned");
    });
    const Fitted heard = fitted(trainer, &callback);
    EXPECT_EQ(heard.numbers, quiet.numbers) << name;
    EXPECT_TRUE(same_bits(heard.state, quiet.state)) << name;
  }
  EXPECT_EQ(message_of([&] { trainer.fit(data); }), "") << "no call is running any more";
}

TEST(InCallback, AnErrorEndsTheFitAndTheTrainerGoesOn) {
  Trainer trainer = trainer_of(model_of());
  Everywhere callback([&] { trainer.fit(line_data(20)); });
  EXPECT_NE(message_of([&] { fitted(trainer, &callback); }), "");
  EXPECT_EQ(message_of([&] { fitted(trainer, nullptr); }), "");
}

TEST(InCallback, TheTrainerAndTheDataMayGo) {
  const Fitted quiet = fitted(trainer_of(model_of()), nullptr);
  Model model = model_of();
  std::optional<Trainer> trainer = trainer_of(model);
  Dataset data = line_data(40);
  FitOptions options{.epochs = 2, .batch = 8, .validation = line_data(35), .keep_best = true};
  Everywhere callback([&] {
    trainer.reset();
    data = {};
    options.validation = {};
  });
  options.callback = &callback;
  const History history = trainer->fit(data, options);
  EXPECT_FALSE(trainer.has_value());
  EXPECT_EQ(numbers_of(history), quiet.numbers);
  EXPECT_TRUE(same_bits(model.weights(), quiet.state.part("model/")));
}

TEST(InCallback, AScheduleIsAskedWithinAStep) {
  const Dataset data = line_data(20);
  Trainer* called = nullptr;
  std::string message;
  Objective objective;
  objective.schedule = [&](double, std::uint64_t) {
    message = message_of([&] { called->fit(data); });
    return 1.0;
  };
  Trainer trainer(model_of(), objective);
  called = &trainer;
  trainer.step(*trainer.batches(data, {.size = 4}).begin());
  EXPECT_EQ(message, "a step() of this trainer is running; call fit() after it has returned");
}

TEST(Handles, AMoveLeavesNoEmptyOne) {
  Model model = model_of();
  const Model moved = std::move(model);
  EXPECT_EQ(all_weights(model), all_weights(moved));  // NOLINT(bugprone-use-after-move)
  Trainer trainer = trainer_of(model);
  Trainer other = std::move(trainer);
  trainer.fit(line_data(20));  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(other.epochs(), 1);
  Dataset data = line_data(20);
  const Dataset kept = std::move(data);
  EXPECT_EQ(data.size(), 0);  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(data.inputs().empty() && data.info().classes.empty());
  EXPECT_NE(message_of([&] { other.fit(data); }), "");
  EXPECT_NE(message_of([&] { other.evaluate(data); }), "");
  EXPECT_NE(message_of([&] { other.batches(data); }), "");
}

}  // namespace
}  // namespace linnet::testing
