// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "counting_backend.h"
#include "fixtures.h"
#include "message_of.h"
#include "model/model_state.h"

namespace linnet::testing {
namespace {

/// Two towers that share nothing: "left" of input "a", "right" of input "b".
Network towers() {
  FunctionalNetwork functional;
  const Expression a = functional.input("a", {2});
  const Expression b = functional.input("b", {2});
  return functional.build(
      {{"left", a | Dense{.units = 4, .name = "left_1"} | BatchNorm{.name = "left_norm"} | Tanh{} |
                    Dense{.units = 2, .name = "left_2"}},
       {"right", b | Dense{.units = 4, .name = "right_1"} | BatchNorm{.name = "right_norm"} |
                     Tanh{} | Dense{.units = 2, .name = "right_2"}}});
}

Model towers_model() { return Model(towers(), {.device = "cpu", .threads = 2, .seed = 3}); }

Objective objective_of(const std::string& output) {
  Objective objective;
  objective.trains = {{.name = output + "*"}};
  objective.output_losses.resize(1);
  objective.output_losses[0].output = output;
  objective.optimizer = Adam{.learning_rate = 0.01};
  return objective;
}

Objectives both() { return {{"l", objective_of("left")}, {"r", objective_of("right")}}; }

/// Column `name` of both sides.
Dataset tower_data(bool left = true, bool right = true) {
  const Dataset sums = sums_data(50);
  std::vector<Column> inputs;
  std::vector<Column> targets;
  const auto add = [&](const char* input, const char* target) {
    inputs.push_back({.name = input, .data = first_input(sums)});
    targets.push_back({.name = target, .data = first_target(sums)});
  };
  if (left) add("a", "left");
  if (right) add("b", "right");
  return Dataset(std::move(inputs), std::move(targets));
}

/// The weights and statistics whose names begin so.
State weights_of(const Model& model, const std::string& prefix) {
  return model.weights().part(prefix);
}

TEST(Objectives, EachTrainsAsIfItWereAlone) {
  Trainer trainer(towers_model(), both());
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const Batch& batch : trainer.batches(tower_data(), {.size = 16})) {
      trainer.step("l", batch);
      trainer.step("r", batch);
      trainer.step("l", batch);
    }
  }
  EXPECT_EQ(trainer.steps(), 24U);
  EXPECT_EQ(trainer.epochs(), 2);
  for (const bool left : {true, false}) {
    const std::string side = left ? "left" : "right";
    Trainer alone(towers_model(), objective_of(side));
    for (int epoch = 0; epoch < 2; ++epoch) {
      for (const Batch& batch : alone.batches(tower_data(left, !left), {.size = 16})) {
        alone.step(batch);
        if (left) alone.step(batch);
      }
    }
    EXPECT_TRUE(same_bits(weights_of(trainer.model(), side), weights_of(alone.model(), side)));
    EXPECT_FALSE(same_bits(weights_of(trainer.model(), side), weights_of(towers_model(), side)));
  }
}

TEST(Objectives, AStepRunsNothingThatItsLossesDontNeed) {
  const Model model = towers_model();
  Trainer trainer(model, both());
  const State before = weights_of(model, "right");
  // The data of the other objective are not even there.
  for (const Batch& batch : trainer.batches(tower_data(true, false), {.size = 16})) {
    EXPECT_GT(trainer.step("l", batch).loss(), 0);
    EXPECT_EQ(trainer.gradients("l", batch).size(), 6U);
  }
  EXPECT_TRUE(same_bits(weights_of(model, "right"), before)) << "running statistics, too";
  EXPECT_GT(trainer.evaluate("l", tower_data(true, false)).loss, 0);
  EXPECT_EQ(
      message_of([&] { trainer.evaluate("r", tower_data(true, false)); }),
      "the loss of the output 'right' needs a target: the data set 'data' has none for it (its "
      "targets are 'left'), and OutputLoss::target is not set");
  const Dataset without_b({tower_data().inputs()[0]}, tower_data().targets());
  EXPECT_EQ(message_of([&] { trainer.evaluate("r", without_b); }),
            "the network's input 'b' has no column in the data set 'data'; the network takes 'b', "
            "and the data set's inputs are 'a'");
}

TEST(Objectives, AStateHoldsEachOnesMomentsAndUpdates) {
  const auto steps = [](Trainer& trainer) {
    for (const Batch& batch : trainer.batches(tower_data(), {.size = 16})) {
      trainer.step("l", batch);
      if (batch.position() > 0) trainer.step("r", batch);
    }
  };
  Trainer whole(towers_model(), both());
  steps(whole);
  const State between = whole.state();
  EXPECT_EQ(between["objective/l/updates"].item<std::int64_t>(), 4);
  EXPECT_EQ(between["objective/r/updates"].item<std::int64_t>(), 3);
  EXPECT_EQ(between["position/steps"].item<std::int64_t>(), 7);
  EXPECT_NE(between.find("objective/l/optimizer/moment2/left_1.weight"), nullptr);
  EXPECT_EQ(between.find("objective/l/optimizer/moment2/right_1.weight"), nullptr);
  steps(whole);
  Trainer continued(towers_model(), both());
  continued.load_state(between);
  EXPECT_TRUE(same_bits(continued.state(), between));
  steps(continued);
  EXPECT_TRUE(same_bits(continued.state(), whole.state()));
}

TEST(Objectives, AlternatingStepsCompileAndAllocateOnce) {
  const auto counts = std::make_shared<Counts>();
  Trainer trainer(Model(make_state(towers(),
                                   std::make_unique<CountingBackend>(
                                       open_backend({.device = "cpu", .threads = 2}), counts),
                                   1)),
                  both());
  const Dataset data = tower_data();
  const auto epoch = [&] {
    for (const Batch& batch : trainer.batches(data, {.size = 16})) {
      trainer.step("l", batch);
      trainer.step("r", batch);
    }
  };
  epoch();
  EXPECT_EQ(counts->programs, 4U);  // full and last batches
  *counts = {};
  epoch();
  EXPECT_EQ(*counts, Counts{});
}

TEST(Objectives, OneNumberMayBeTheTarget) {
  const Network network({2}, {Dense{.units = 3}});
  const Dataset data = sums_data(20);
  const Dataset ones({{"x", first_input(data)}},
                     {{"y", Tensor(std::vector<float>(60, 1.0F), {20, 3})}});
  const Dataset untold({{"x", first_input(data)}}, {});
  Objective told{.output_losses = {{.output = "output", .loss = Loss::binary_cross_entropy}}};
  Objective constant = told;
  constant.output_losses[0].target = 1;
  Trainer a(Model(network, {.seed = 1}), told);
  Trainer b(Model(network, {.seed = 1}), constant);
  a.fit(ones, {.epochs = 2, .batch = 8});
  b.fit(untold, {.epochs = 2, .batch = 8});
  EXPECT_TRUE(same_bits(a.state(), b.state()));
  EXPECT_EQ(a.evaluate(ones).loss, b.evaluate(untold).loss);
  constant.output_losses[0].target = 0;
  EXPECT_NE(Trainer(a.model(), constant).evaluate(untold).loss, a.evaluate(ones).loss);
  constant.output_losses[0].target = 2;
  EXPECT_EQ(message_of([&] { Trainer(a.model(), constant).evaluate(untold); }),
            "expected a target in [0, 1], a probability, for the output 'output'; got 2");
}

TEST(Objectives, ErrorsNameThem) {
  Trainer trainer(towers_model(), both());
  const Dataset data = tower_data();
  EXPECT_EQ(message_of([&] { trainer.fit(data); }),
            "the trainer has named objectives, 'l', 'r': fit() needs a trainer with one; call "
            "step(NAME, batch)");
  const Batch batch = *trainer.batches(data).begin();
  EXPECT_EQ(message_of([&] { trainer.step(batch); }),
            "the trainer has named objectives, 'l', 'r': call step(NAME, batch) for one of them");
  EXPECT_EQ(message_of([&] { trainer.step("left", batch); }),
            "the trainer has no objective 'left'; it has 'l', 'r'");
  EXPECT_EQ(message_of([&] { Trainer(towers_model()).step("l", batch); }),
            "the trainer has no objective 'l'; it has one without a name");
  EXPECT_EQ(message_of([&] { Trainer(towers_model(), Objectives{}); }),
            "expected an objective for a trainer; got none");
  EXPECT_EQ(message_of([&] {
              Trainer(towers_model(), Objectives{{"a/b", {}}});
            }),
            "expected a name without '/' for each objective; got 'a/b'");
  EXPECT_EQ(message_of([&] {
              Trainer(towers_model(), Objectives{{"a", {}}, {"a", {}}});
            }),
            "expected different names of objectives; two are called 'a'");
}

TEST(Objectives, WhatNoLossDependsOnDoesNotTrain) {
  const Dataset data = tower_data();
  Objective objective = objective_of("left");
  objective.trains = {{.name = "*_2.*"}, {.name = "right_1.*"}};
  const auto trainer_with = [](Objective one) {
    return Trainer(towers_model(), Objectives{{"one", std::move(one)}});
  };
  Trainer trainer = trainer_with(objective);
  const Batch batch = *trainer.batches(data, {.size = 16}).begin();
  const std::string expected =
      "no loss of the objective 'one' depends on the parameters that 'right_1.*' matches: "
      "right_1.weight, right_1.bias";
  EXPECT_EQ(message_of([&] { trainer.step("one", batch); }), expected);
  EXPECT_EQ(message_of([&] { trainer.gradients("one", batch); }), expected);
  EXPECT_EQ(trainer.steps(), 0U);
  // Of what else a pattern matches, and without patterns, the rest stays: no weight decay, either.
  for (const std::vector<ParameterGroup>& trains :
       {std::vector<ParameterGroup>{{.name = "*_2.*"}}, std::vector<ParameterGroup>{}}) {
    objective.trains = trains;
    objective.optimizer = AdamW{.learning_rate = 0.1, .weight_decay = 0.5};
    objective.loss_options.l2 = 0.1;
    Trainer some = trainer_with(objective);
    some.step("one", batch);
    const State after = some.model().weights();
    EXPECT_TRUE(same_bits(after.part("right"), weights_of(towers_model(), "right")));
    EXPECT_FALSE(same_bits(after.part("left_2"), weights_of(towers_model(), "left_2")));
    EXPECT_EQ(some.gradients("one", batch).find("right_2.weight"), nullptr);
  }
}

TEST(Objectives, AllStopWhereOneDoes) {
  const Dataset data = tower_data();
  Objectives objectives = both();
  objectives[0].objective.output_losses[0].custom = [](const Expression& y, const Expression& t) {
    return square(y - t) + sqrt(square(y - y));
  };
  Trainer trainer(towers_model(), std::move(objectives));
  const Batch batch = *trainer.batches(data, {.size = 16}).begin();
  const StepResult right = trainer.step("r", batch);
  const State before = trainer.model().weights();
  trainer.step("l", batch);
  trainer.step("r", batch);
  EXPECT_TRUE(same_bits(trainer.model().weights(), before));
  EXPECT_NE(message_of([&] { static_cast<void>(right.loss()); }).find("step 1 of the training"),
            std::string::npos);
  EXPECT_EQ(trainer.steps(), 1U);
}

}  // namespace
}  // namespace linnet::testing
