// SPDX-License-Identifier: Apache-2.0
// What changes in the middle of a training: which parameters train, and weights that become their
// average. optimizer_test.cpp compares the first with PyTorch.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fixtures.h"
#include "message_of.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

const std::vector<ParameterGroup> kHead{{.name = "b.*"}};

Trainer trainer_of(const Objective& objective, int threads = 2) {
  const Network network({2}, {Dense{.units = 3, .name = "a"}, BatchNorm{.name = "n"}, Tanh{},
                              Dense{.units = 2, .name = "b"}});
  return Trainer(Model(network, {.device = "cpu", .threads = threads, .seed = 3}), objective,
                 {.seed = 4});
}

std::vector<Objective> objectives() {
  Objective both{.optimizer = AdamW{.learning_rate = 0.05}};
  both.average = {.decay = 0.8};
  both.lookahead = {.every = 2};
  return {{.optimizer = Adam{.learning_rate = 0.05}},
          {.optimizer = SGD{.learning_rate = 0.05, .momentum = 0.9}, .clip = {.norm = 0.5}},
          {.optimizer = Muon{.learning_rate = 0.05}},
          both};
}

void fit(Trainer& trainer, std::int64_t epochs = 1) {
  trainer.fit(sums_data(24), {.epochs = epochs, .batch = 8});
}

TEST(BetweenSteps, WhatDoesNotTrainStaysWithItsMoments) {
  for (const Objective& objective : objectives()) {
    Trainer trainer = trainer_of(objective);
    fit(trainer);
    const State before = trainer.state();
    trainer.set_trains(kHead);
    fit(trainer, 2);
    const State after = trainer.state();
    for (const char* name : {"model/a.weight", "model/n.weight", "model/n.running_mean",
                             "optimizer/moment1/a.weight", "optimizer/moment1/n.bias"}) {
      if (before.find(name) == nullptr) continue;
      EXPECT_TRUE(same_bits(before[name], after[name])) << name;
    }
    EXPECT_FALSE(same_bits(before["model/b.weight"], after["model/b.weight"]));
    trainer.set_trains({});
    fit(trainer);
    EXPECT_FALSE(same_bits(trainer.state()["model/a.weight"], after["model/a.weight"]));
    EXPECT_FALSE(same_bits(trainer.state()["model/n.running_mean"], after["model/n.running_mean"]));
  }
}

/// The state may be taken within any of the phases, and threads change no bit.
TEST(BetweenSteps, ContinuedTrainingsGiveTheSameBits) {
  const std::vector<std::vector<ParameterGroup>> phases{kHead, {}, {{.name = "a.*"}}, {}};
  for (const Objective& objective : objectives()) {
    Trainer whole = trainer_of(objective);
    std::vector<State> states;
    for (const std::vector<ParameterGroup>& trains : phases) {
      whole.set_trains(trains);
      fit(whole);
      states.push_back(whole.state());
    }
    for (std::size_t stopped = 0; stopped < phases.size(); ++stopped) {
      Trainer rest = trainer_of(objective, 1);
      rest.set_trains(phases[stopped]);
      rest.load_state(states[stopped]);
      for (std::size_t phase = stopped + 1; phase < phases.size(); ++phase) {
        rest.set_trains(phases[phase]);
        fit(rest);
      }
      EXPECT_TRUE(same_bits(rest.state(), states.back()))
          << objective.optimizer.index() << ' ' << stopped;
    }
  }
}

/// A fit compiles before it loads its checkpoint.
TEST(BetweenSteps, ACheckpointOfAThawedTrainingContinues) {
  struct Stop final : Callback {
    void on_epoch(const EpochReport& report) override { stops = report.epoch == 4; }
    bool stop_requested() override { return stops; }
    bool stops = false;
  };
  const TemporaryFolder folder;
  int number = 0;
  for (const Objective& objective : objectives()) {
    const auto begin = [&] {
      Trainer trainer = trainer_of(objective);
      trainer.set_trains(kHead);
      fit(trainer, 2);
      trainer.set_trains({});
      return trainer;
    };
    FitOptions options{.epochs = 4, .batch = 8};
    Trainer whole = begin();
    whole.fit(sums_data(24), options);
    options.checkpoints.folder = folder / std::to_string(number++);
    Stop stop;
    options.callback = &stop;
    begin().fit(sums_data(24), options);
    options.checkpoints.resume = true;
    options.callback = nullptr;
    Trainer rest = trainer_of(objective, 1);
    rest.set_trains({});
    const History history = rest.fit(sums_data(24), options);
    EXPECT_EQ(history.epochs.size(), 4U);
    EXPECT_TRUE(same_bits(rest.state(), whole.state())) << objective.optimizer.index();
    Trainer other = trainer_of(objective, 1);
    other.set_trains(kHead);
    const State before = other.state();
    EXPECT_NE(message_of([&] { other.fit(sums_data(24), options); }).find("optimizer bounds"),
              std::string::npos);
    EXPECT_TRUE(same_bits(other.state(), before));
  }
}

TEST(BetweenSteps, StepsFollowAChangeAtOnce) {
  Trainer trainer = trainer_of(objectives().front());
  std::vector<float> frozen;
  for (const Batch& batch : trainer.batches(sums_data(24), {.size = 8})) {
    if (batch.position() == 8) {
      trainer.set_trains(kHead);
      EXPECT_EQ(trainer.gradients(batch).find("a.weight"), nullptr);
      frozen = parameter(trainer.model(), "a.weight");
    }
    trainer.step(batch);
  }
  EXPECT_EQ(parameter(trainer.model(), "a.weight"), frozen);
}

/// Else it would be drawn to the zeros that Lookahead's memory begins with.
TEST(BetweenSteps, LookaheadBeginsWhereAParameterIs) {
  Objective objective{.trains = kHead, .optimizer = SGD{.learning_rate = 1e-9}};
  objective.lookahead = {.every = 3};
  Trainer trainer = trainer_of(objective);
  fit(trainer);
  const std::vector<float> before = parameter(trainer.model(), "a.weight");
  trainer.set_trains({});
  fit(trainer);
  const std::vector<float> after = parameter(trainer.model(), "a.weight");
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-6);
}

TEST(BetweenSteps, WeightsBecomeTheirAverage) {
  Trainer trainer = trainer_of(objectives().back());
  fit(trainer);
  const Model averaged = trainer.averaged();
  const State before = trainer.state();
  trainer.take_average();
  EXPECT_EQ(all_weights(trainer.model()), all_weights(averaged));
  EXPECT_EQ(all_weights(trainer.averaged()), all_weights(averaged));
  const State after = trainer.state();
  EXPECT_TRUE(same_bits(after["optimizer/moment1/a.weight"], before["optimizer/moment1/a.weight"]));
  Trainer other = trainer_of(objectives().back(), 1);
  other.load_state(after);
  fit(trainer);
  fit(other);
  EXPECT_TRUE(same_bits(trainer.state(), other.state()));
  // Lookahead's alone: where the last return was.
  Objective objective{.trains = kHead, .optimizer = Adam{.learning_rate = 0.05}};
  objective.lookahead = {.every = 3};
  Trainer returning = trainer_of(objective);
  fit(returning);
  const std::vector<float> returned = all_weights(returning.model());
  for (const Batch& batch : returning.batches(sums_data(24), {.size = 8})) {
    returning.step(batch);
    if (batch.position() == 8) break;
  }
  EXPECT_NE(all_weights(returning.model()), returned);
  returning.take_average();
  EXPECT_EQ(all_weights(returning.model()), returned);
}

TEST(BetweenSteps, OneOfSeveralObjectives) {
  FunctionalNetwork functional;
  const Expression x = functional.input("input", {2});
  const Expression hidden = x | Dense{.units = 3, .name = "a"};
  const Network network = functional.build({{"p", hidden | Dense{.units = 2, .name = "b"}},
                                            {"q", hidden | Dense{.units = 2, .name = "c"}}});
  Objective first{.output_losses = {{.output = "p"}}};
  first.average = {.decay = 0.5};
  const Objective second{.output_losses = {{.output = "q"}}};
  const Dataset sums = sums_data(24);
  const Dataset data({{.name = "input", .data = first_input(sums)}},
                     {{.name = "p", .data = first_target(sums)},
                      {.name = "q", .data = first_target(sums)}});
  const auto make = [&] {
    return Trainer(Model(network, {.device = "cpu", .seed = 3}),
                   Objectives{{"first", first}, {"second", second}}, {.seed = 4});
  };
  const auto steps = [&](Trainer& trainer) {
    for (const Batch& batch : trainer.batches(data, {.size = 8})) {
      trainer.step("first", batch);
      trainer.step("second", batch);
    }
  };
  Trainer trainer = make();
  steps(trainer);
  trainer.set_trains("first", {{.name = "b.*"}});
  trainer.take_average("first");
  const std::vector<float> shared = parameter(trainer.model(), "a.weight");
  trainer.set_trains("second", {{.name = "c.*"}});
  steps(trainer);
  EXPECT_EQ(parameter(trainer.model(), "a.weight"), shared);
  Trainer other = make();
  other.set_trains("first", {{.name = "b.*"}});
  other.set_trains("second", {{.name = "c.*"}});
  other.load_state(trainer.state());
  for (Trainer* one : {&trainer, &other}) {
    one->set_trains("first", {});
    steps(*one);
  }
  EXPECT_TRUE(same_bits(trainer.state(), other.state()));
  EXPECT_EQ(message_of([&] { trainer.set_trains({}); }),
            "the trainer has named objectives, 'first', 'second': name one of them");
  EXPECT_EQ(message_of([&] { trainer.take_average("third"); }),
            "the trainer has no objective 'third'; it has 'first', 'second'");
}

TEST(BetweenSteps, MistakesChangeNothing) {
  Trainer trainer = trainer_of(objectives().front());
  fit(trainer);
  const State before = trainer.state();
  EXPECT_EQ(message_of([&] { trainer.set_trains({{.name = "c.*"}}); }),
            "no parameter matches 'c.*'; the parameters are a.weight, a.bias, n.weight, n.bias, "
            "b.weight, b.bias");
  EXPECT_EQ(message_of([&] { trainer.take_average(); }),
            "no average of the weights is kept; set Objective::average or Objective::lookahead");
  EXPECT_TRUE(same_bits(trainer.state(), before));
  Trainer fresh = trainer_of(objectives().back());
  EXPECT_EQ(message_of([&] { fresh.take_average(); }),
            "there is no average of the weights before the first step");
  trainer.set_trains(kHead);
  State wrong = trainer.state();
  wrong.set("optimizer/left_out", Tensor(std::vector<std::int64_t>{0, 0, 0, 0, 99, 0, 0, 0}));
  EXPECT_EQ(message_of([&] { trainer.load_state(wrong); }).substr(0, 44),
            "expected a count of at most 3 for each of 8 ");
  struct Within final : Callback {
    explicit Within(Trainer& of) : trainer(of) {}
    void on_epoch(const EpochReport& /*report*/) override {
      message = message_of([&] { trainer.set_trains({}); });
      other = message_of([&] { trainer.take_average(); });
    }
    Trainer& trainer;
    std::string message;
    std::string other;
  } within(trainer);
  trainer.fit(sums_data(24), {.batch = 8, .callback = &within});
  EXPECT_EQ(within.message,
            "a fit() of this trainer is running; call set_trains() after it has returned");
  EXPECT_EQ(within.other,
            "a fit() of this trainer is running; call take_average() after it has returned");
}

}  // namespace
}  // namespace linnet::testing
