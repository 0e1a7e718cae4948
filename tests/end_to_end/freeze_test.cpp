// SPDX-License-Identifier: Apache-2.0
// Parameters that rest for some epochs of a fit: as Trainer::set_trains() by hand.
#include <gtest/gtest.h>
#include <linnet/fleet.h>

#include <string>
#include <utility>
#include <vector>

#include "fixtures.h"
#include "message_of.h"
#include "temporary_folder.h"
#include "thread_ranks.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kEpochs = 5;
constexpr std::uint64_t kSteps = 3;  // of an epoch

const std::vector<Freeze> kFreeze{{.name = "a.*", .until = 1},
                                  {.name = "b.bias", .after = 1, .until = 3},
                                  {.name = "n.*", .after = 3}};

/// What trains in each epoch, by hand.
std::vector<std::vector<ParameterGroup>> by_hand() {
  const std::vector<ParameterGroup> no_bias{{.name = "a.*"}, {.name = "n.*"}, {.name = "b.weight"}};
  const std::vector<ParameterGroup> no_norm{{.name = "a.*"}, {.name = "b.*"}};
  return {{{.name = "n.*"}, {.name = "b.*"}}, no_bias, no_bias, no_norm, no_norm};
}

Network small() {
  return Network({2}, {Dense{.units = 3, .name = "a"}, BatchNorm{.name = "n"}, Tanh{},
                       Dense{.units = 2, .name = "b"}});
}

Trainer trainer_of(const Objective& objective, int threads = 2) {
  return Trainer(Model(small(), {.device = "cpu", .threads = threads, .seed = 3}), objective,
                 {.seed = 4});
}

std::vector<Objective> objectives() {
  const Schedule cosine = CosineDecay{.epochs = kEpochs, .floor = 0.1};
  Objective both{.optimizer = AdamW{.learning_rate = 0.05}, .schedule = cosine};
  both.average = {.decay = 0.8};
  both.lookahead = {.every = 2};
  return {{.optimizer = Adam{.learning_rate = 0.05}, .schedule = cosine},
          {.optimizer = SGD{.learning_rate = 0.05, .momentum = 0.9}, .clip = {.norm = 0.5}},
          {.optimizer = Muon{.learning_rate = 0.05}},
          both};
}

FitOptions frozen(std::int64_t epochs = kEpochs) {
  return {.epochs = epochs, .batch = 8, .freeze = kFreeze};
}

State after(const Objective& objective, const FitOptions& options, int threads = 2) {
  Trainer trainer = trainer_of(objective, threads);
  trainer.fit(sums_data(24), options);
  return trainer.state();
}

TEST(Freeze, GivesTheBitsOfSetTrains) {
  for (const std::int64_t shards : {0, 2}) {
    for (const Objective& objective : objectives()) {
      Trainer hand = trainer_of(objective);
      std::vector<ParameterGroup> before;
      for (const std::vector<ParameterGroup>& trains : by_hand()) {
        const bool same = !before.empty() && before.size() == trains.size() &&
                          before.back().name == trains.back().name;
        if (!same) hand.set_trains(trains);
        before = trains;
        hand.fit(sums_data(24), {.epochs = 1, .batch = 8, .shards = shards});
      }
      hand.set_trains({});
      FitOptions options = frozen();
      options.shards = shards;
      EXPECT_TRUE(same_bits(after(objective, options), hand.state()))
          << objective.optimizer.index() << ' ' << shards;
      EXPECT_TRUE(same_bits(after(objective, options, 1), hand.state()));
      options.freeze.clear();
      EXPECT_FALSE(
          same_bits(after(objective, options).part("model/"), hand.state().part("model/")));
    }
  }
}

/// The groups' own rates stay, and what they leave out never trains.
TEST(Freeze, LeavesTheGroupsOfTheObjective) {
  Objective objective = objectives().front();
  objective.trains = {{.name = "b.*", .learning_rate_factor = 0.5}, {.name = "n.*"}};
  FitOptions options = frozen(2);
  options.freeze = {{.name = "n.*", .after = 1}};
  Trainer hand = trainer_of(objective);
  hand.set_trains(objective.trains);
  hand.fit(sums_data(24), {.batch = 8});
  hand.set_trains({objective.trains.front()});
  hand.fit(sums_data(24), {.batch = 8});
  hand.set_trains(objective.trains);
  EXPECT_TRUE(same_bits(after(objective, options), hand.state()));
}

TEST(Freeze, ThawsAfterTheFit) {
  Trainer trainer = trainer_of(objectives().front());
  trainer.fit(sums_data(24), frozen());
  const State before = trainer.state();
  trainer.fit(sums_data(24), {.batch = 8});
  const State later = trainer.state();
  EXPECT_FALSE(same_bits(before["model/n.weight"], later["model/n.weight"]));
  // Epochs count from the training's start: of the sixth on, n.* rests again.
  trainer.fit(sums_data(24), frozen(1));
  EXPECT_TRUE(same_bits(trainer.state()["model/n.weight"], later["model/n.weight"]));
}

/// Asks for a stop after so many steps.
struct StopAfter final : Callback {
  explicit StopAfter(std::uint64_t steps) : left(steps) {}
  void on_batch(const StepResult& /*step*/) override {
    if (left > 0) --left;
  }
  bool stop_requested() override { return left == 0; }
  std::uint64_t left;
};

TEST(Freeze, ContinuesFromEveryStep) {
  const TemporaryFolder folder;
  int number = 0;
  for (const Objective& objective : objectives()) {
    const State whole = after(objective, frozen());
    for (std::uint64_t stop = 1; stop < kEpochs * kSteps; ++stop) {
      FitOptions options = frozen();
      options.checkpoints.folder = folder / std::to_string(number++);
      StopAfter callback(stop);
      options.callback = &callback;
      static_cast<void>(after(objective, options));
      options.callback = nullptr;
      options.checkpoints.resume = true;
      EXPECT_TRUE(same_bits(after(objective, options, 1), whole))
          << objective.optimizer.index() << ' ' << stop;
      if (stop % kSteps == 0) continue;  // of a state that was loaded, within an epoch
      options.checkpoints.resume = false;
      options.checkpoints.folder = folder / std::to_string(number++);
      StopAfter again(stop);
      options.callback = &again;
      static_cast<void>(after(objective, options));
      Trainer rest = trainer_of(objective);
      rest.load_state(read_checkpoint(options.checkpoints.folder).state);
      rest.fit(sums_data(24), frozen());
      EXPECT_TRUE(same_bits(rest.state(), whole)) << objective.optimizer.index() << ' ' << stop;
    }
  }
}

TEST(Freeze, IsPartOfACheckpoint) {
  const TemporaryFolder folder;
  FitOptions options = frozen();
  options.checkpoints.folder = folder / "a";
  StopAfter callback(4);
  options.callback = &callback;
  const Objective objective = objectives().front();
  static_cast<void>(after(objective, options));
  options.callback = nullptr;
  options.checkpoints.resume = true;
  for (const std::vector<Freeze>& other :
       {std::vector<Freeze>{}, std::vector<Freeze>{{.name = "a.*", .until = 2}}}) {
    options.freeze = other;
    const std::string message = message_of([&] { after(objective, options); });
    EXPECT_NE(message.find("was written by a fit with freeze [{ name = \"a.*\", until = 1 }"),
              std::string::npos)
        << message;
  }
}

TEST(Freeze, HoldsForEveryMemberOfAFleet) {
  const Objective objective = objectives().front();
  Fleet fleet(small(), 2, {.seeds = {3, 5}, .data_seed = 4, .objectives = {objective}});
  fleet.fit(sums_data(24), frozen());
  const State alone = after(objective, frozen(), 1);
  EXPECT_TRUE(same_bits(fleet.member(0).weights(), alone.part("model/")));
}

TEST(Freeze, GivesTheSameBitsOnTwoRanks) {
  FitOptions options = frozen();
  options.shards = 2;
  for (const Objective& objective : {objectives().front(), objectives().back()}) {
    const State expected = after(objective, options);
    const auto body = [&](const Ranks& ranks) {
      Trainer trainer(Model(small(), {.device = "cpu", .threads = 1, .seed = 3}), objective,
                      {.seed = 4, .ranks = ranks});
      trainer.fit(sums_data(24), options);
      EXPECT_TRUE(same_bits(trainer.state(), expected));
    };
    EXPECT_EQ(run_ranks(2, body), std::vector<std::string>(2));
  }
}

TEST(Freeze, NamesWhatItCannotDo) {
  const auto message = [](const std::vector<Freeze>& freeze) {
    FitOptions options = frozen();
    options.freeze = freeze;
    Trainer trainer = trainer_of(objectives().front());
    const State before = trainer.state();
    std::string text = message_of([&] { trainer.fit(sums_data(24), options); });
    EXPECT_TRUE(same_bits(trainer.state(), before));
    return text;
  };
  EXPECT_EQ(message({{.name = "c.*"}}),
            "[freeze 'c.*'] expected the name of parameters that train; these are a.weight, "
            "a.bias, n.weight, n.bias, b.weight, b.bias");
  EXPECT_EQ(message({{.name = "a.*", .after = -1}}),
            "[freeze 'a.*'] expected after to be in [0, 1e9]; got -1");
  EXPECT_EQ(message({{.name = "a.*", .after = 2, .until = 2}}),
            "[freeze 'a.*'] expected until to be above after = 2; got 2");
  EXPECT_EQ(message({{.name = "a.*", .until = 3}, {.name = "a.*", .after = 2}}),
            "[freeze 'a.*'] expected one entry of this name for an epoch; got two");
  EXPECT_EQ(message({{.name = "*", .after = 3, .until = 4}}),
            "freeze leaves no parameter to train in epoch 4");
  // Ranges apart of one name, and wider patterns, are fine.
  EXPECT_EQ(message({{.name = "*"}}), "freeze leaves no parameter to train in epoch 1");
  Trainer trainer = trainer_of(objectives().front());
  FitOptions options = frozen(2);
  options.freeze = {{.name = "a.*", .until = 1},
                    {.name = "a.*", .after = 4},
                    {.name = "*.weight", .until = 1}};
  EXPECT_EQ(trainer.fit(sums_data(24), options).notes,
            std::vector<std::string>{"freeze 'a.*' has no effect: it begins after epoch 4, and the "
                                     "training ends after epoch 2"});
  const Network plain({2}, {Dense{.units = 3, .name = "a"}, Tanh{}, Dense{.units = 2}});
  Trainer squares(Model(plain, {.device = "cpu"}),
                  {.loss = Loss::mse, .optimizer = LevenbergMarquardt{}});
  EXPECT_EQ(message_of([&] { squares.fit(sums_data(24), {.freeze = {{.name = "a.*"}}}); }),
            "[levenberg_marquardt] takes one step an epoch; leave out freeze");
}

}  // namespace
}  // namespace linnet::testing
