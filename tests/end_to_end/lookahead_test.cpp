// SPDX-License-Identifier: Apache-2.0
// Weights that return to earlier ones; optimizer_test.cpp compares them with PyTorch's.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fixtures.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

Network two_layers() {
  return Network({2}, {Dense{.units = 3, .name = "a"}, Tanh{}, Dense{.units = 2, .name = "b"}});
}

Trainer trainer_of(const Objective& objective, int threads = 2) {
  return Trainer(Model(two_layers(), {.device = "cpu", .threads = threads, .seed = 3}), objective,
                 {.seed = 4});
}

Objective returning(Lookahead lookahead) {
  Objective objective{.optimizer = Adam{.learning_rate = 0.05}};
  objective.lookahead = lookahead;
  return objective;
}

std::vector<float> after(const Objective& objective, std::int64_t epochs, int threads = 2,
                         std::int64_t shards = 0) {
  Trainer trainer = trainer_of(objective, threads);
  trainer.fit(sums_data(24), {.epochs = epochs, .batch = 8, .shards = shards});
  return all_weights(trainer.model());
}

/// Three updates an epoch: until the first return nothing differs, and then all of it.
TEST(Lookahead, ReturnsAfterSoManyUpdates) {
  const Trainer fresh = trainer_of({});
  const std::vector<float> first = all_weights(fresh.model());
  const std::vector<float> plain = after(returning({}), 1);
  EXPECT_EQ(after(returning({.every = 4}), 1), plain);
  const std::vector<float> half = after(returning({.every = 3, .alpha = 0.25}), 1);
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_NEAR(half[i], first[i] + 0.25F * (plain[i] - first[i]), 1e-6);
  }
  EXPECT_NE(after(returning({.every = 4}), 2), after(returning({}), 2));
}

TEST(Lookahead, GivesTheSameBitsOnThreadsAndTheSumsOfShards) {
  const Objective objective = returning({.every = 2});
  const std::vector<float> one = after(objective, 3, 1);
  for (const int threads : {2, 4}) EXPECT_EQ(after(objective, 3, threads), one);
  const std::vector<float> shards = after(objective, 3, 1, 2);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(shards[i], one[i], 1e-4);
}

/// What is frozen, or trained by another objective, is none of its business.
TEST(Lookahead, LeavesAloneWhatDoesNotTrain) {
  Objective objective = returning({.every = 2});
  objective.trains = {{.name = "b.*"}};
  Trainer trainer = trainer_of(objective);
  const Dataset data = sums_data(24);
  trainer.fit(data, {.epochs = 1, .batch = 8});
  const std::vector<float> set(6, 0.125F);
  set_parameter(trainer.model(), "a.weight", set);
  trainer.fit(data, {.epochs = 2, .batch = 8});
  EXPECT_EQ(parameter(trainer.model(), "a.weight"), set);
}

TEST(Lookahead, IsPartOfTheState) {
  const Dataset data = sums_data(24);
  const Objective objective = returning({.every = 4});
  Trainer first = trainer_of(objective);
  first.fit(data, {.epochs = 1, .batch = 8});
  const State state = first.state();
  EXPECT_NE(state.find("lookahead/a.weight"), nullptr);
  EXPECT_EQ(state.find("average/a.weight"), nullptr);
  Trainer second = trainer_of(objective);
  second.load_state(state);
  second.fit(data, {.epochs = 2, .batch = 8});
  EXPECT_EQ(all_weights(second.model()), after(objective, 3));
  Objective averaged = objective;
  averaged.average.decay = 0.5;
  const Trainer both = trainer_of(averaged);
  EXPECT_NE(both.state().find("lookahead/a.weight"), nullptr);
  EXPECT_NE(both.state().find("average/a.weight"), nullptr);
  Trainer without = trainer_of(returning({}));
  EXPECT_NE(message_of([&] { without.load_state(state); }).find("lookahead/"), std::string::npos);
}

TEST(Lookahead, NamesWhatIsOutOfRange) {
  EXPECT_EQ(message_of([] { trainer_of(returning({.every = -1})); }),
            "[lookahead] expected every to be at least 0; got -1");
  EXPECT_EQ(message_of([] { trainer_of(returning({.every = 5, .alpha = 0})); }),
            "[lookahead] expected alpha to be in (0, 1]; got 0");
}

}  // namespace
}  // namespace linnet::testing
