// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "lines.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

TEST(Step, WantsASchedulesOwnLength) {
  const Dataset data = line_data(12);
  const auto message = [&](const Schedule& schedule) {
    Objective objective;
    objective.schedule = schedule;
    Trainer trainer(Model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"}), objective);
    const Batch batch = *trainer.batches(data, {.size = 4}).begin();
    static_cast<void>(trainer.gradients(batch));
    return message_of([&] { trainer.step(batch); });
  };
  EXPECT_EQ(message(CosineDecay{}),
            "step() needs a cosine schedule with its number of epochs; set its epochs");
  EXPECT_EQ(message(OneCycle{}).substr(0, 34), "step() needs a one_cycle schedule ");
  EXPECT_EQ(message(CosineDecay{.epochs = 3}), "");
  EXPECT_EQ(message(StepDecay{}), "");
  EXPECT_EQ(message(Constant{}), "");
}

// Decays begin after a warm-up (Warmup), a plateau's too.
TEST(Step, APlateauWaitsForTheEndOfAWarmUp) {
  Objective objective;
  objective.optimizer = SGD{.learning_rate = 0.5};
  objective.schedule = Plateau{.factor = 0.5, .patience = 0, .threshold = 0.999};
  objective.warmup.epochs = 3;
  Trainer trainer(Model(Network({2}, {Dense{.units = 1}}), {.device = "cpu", .threads = 1}),
                  objective);
  std::vector<double> rates;
  for (const EpochReport& epoch : trainer.fit(line_data(12), {.epochs = 6, .batch = 4}).epochs) {
    rates.push_back(epoch.learning_rate);
  }
  ASSERT_EQ(rates.size(), 6U);
  EXPECT_NEAR(rates[0], 0.5 / 3, 1e-6);
  EXPECT_NEAR(rates[2], 0.5, 1e-6);
  EXPECT_NEAR(rates[3], 0.5, 1e-6) << "the first epoch after the warm-up";
  EXPECT_NEAR(rates[4], 0.25, 1e-6);
  EXPECT_NEAR(rates[5], 0.125, 1e-6);
}

TEST(Step, OnRecordsOfASourceIsFit) {
  const Dataset data =
      line_data(22).map("x", {.record = {2}},
                        [](const Tensor& from, Tensor& to, const RecordPlace&) {
                          std::ranges::copy(from.bytes(), to.writable_bytes().begin());
                        });
  const auto trained = [&](bool steps) {
    Model model(Network({2}, {Dense{.units = 4}, Tanh{}, Dense{.units = 1}}),
                {.device = "cpu", .seed = 2});
    Trainer trainer(model, {}, {.seed = 7});
    if (!steps) trainer.fit(data, {.epochs = 2, .batch = 4});
    for (int epoch = 0; steps && epoch < 2; ++epoch) {
      for (const Batch& batch : trainer.batches(data, {.size = 4})) trainer.step(batch);
    }
    return model.weights();
  };
  EXPECT_TRUE(same_bits(trained(true), trained(false)));
}

TEST(Step, NotesWhatTheModelLearnsFrom) {
  Dataset data = data_of(first_input(line_data(4)), records(std::vector<std::int32_t>{0, 1, 1, 0}));
  data.set_classes({"a", "b"});
  Trainer trainer(Model(Network({2}, {Dense{.units = 2}}), {.device = "cpu"}));
  trainer.step(*trainer.batches(data, {.size = 4}).begin());
  EXPECT_EQ(trainer.model().training_record().loss, "cross_entropy");
  EXPECT_EQ(trainer.model().class_names(), (std::vector<std::string>{"a", "b"}));
}

TEST(Step, AResultIsNotThatOfALoadedState) {
  const Dataset data = line_data(8);
  Trainer trainer(Model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"}));
  const State before = trainer.state();
  const StepResult old = trainer.step(*trainer.batches(data, {.size = 4}).begin());
  trainer.load_state(before);
  trainer.step(*trainer.batches(data, {.size = 4}).begin());
  EXPECT_EQ(message_of([&] { static_cast<void>(old.loss()); }),
            "the loss of step 0 is no longer kept: load_state() was called since");
}

TEST(Step, TakesBatchesOfOneEpochInItsOrder) {
  const Dataset data = line_data(16);
  Trainer trainer(Model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"}));
  std::vector<Batch> batches;
  for (const Batch& batch : trainer.batches(data, {.size = 4})) batches.push_back(batch);
  const auto refusal = [&](std::initializer_list<Batch> step) {
    return message_of([&] { trainer.step(std::span(step.begin(), step.size())); });
  };
  const std::string begin = "expected batches of one epoch, in its order, in a step; got sample ";
  EXPECT_EQ(refusal({batches[1], batches[1]}), begin + "4 of epoch 1 after sample 4 of epoch 1");
  EXPECT_EQ(refusal({batches[2], batches[0]}), begin + "0 of epoch 1 after sample 8 of epoch 1");
  EXPECT_EQ(trainer.steps(), 0U);
  for (const Batch& batch : batches) trainer.step(batch);
  std::vector<Batch> next;
  for (const Batch& batch : trainer.batches(data, {.size = 4})) next.push_back(batch);
  EXPECT_EQ(refusal({batches[0], next[1]}), begin + "4 of epoch 2 after sample 0 of epoch 1");
  EXPECT_EQ(refusal({next[0], next[2]}), "") << "some may be left out";
  EXPECT_EQ(trainer.epochs(), 1);
  EXPECT_EQ(refusal({next[1], next[3]}), "");
  EXPECT_EQ(trainer.epochs(), 2);
}

/// Rates of the steps of a training whose epochs have 4, 2 and 4 steps.
TEST(Step, SchedulesCountEpochsOfAnyLength) {
  const Dataset data = line_data(16);
  for (const Schedule& schedule : {Schedule(StepDecay{.every_epochs = 1, .gamma = 0.5}),
                                   Schedule(ScheduleFunction([](double epoch, std::uint64_t) {
                                     return std::pow(0.5, std::floor(epoch));
                                   }))}) {
    Objective objective;
    objective.optimizer = SGD{.learning_rate = 0.5};
    objective.schedule = schedule;
    const auto trainer_of = [&] {
      return Trainer(Model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"}), objective);
    };
    Trainer fitted = trainer_of();
    Trainer stepped = trainer_of();
    double rate = 0.5;
    for (const std::int64_t batch : {4, 8, 4}) {
      const History history = fitted.fit(data, {.batch = batch});
      EXPECT_DOUBLE_EQ(history.epochs[0].learning_rate, rate);
      // Asking for gradients in other batches moves nothing.
      static_cast<void>(stepped.gradients(*stepped.batches(data, {.size = 16}).begin()));
      for (const Batch& one : stepped.batches(data, {.size = batch})) {
        const State before = stepped.model().weights();
        const State gradients = stepped.gradients(one);
        stepped.step(one);
        const State after = stepped.model().weights();
        const float w = before["dense_1.bias"].as<float>()[0];
        const float g = gradients["dense_1.bias"].as<float>()[0];
        EXPECT_EQ(after["dense_1.bias"].as<float>()[0], w - static_cast<float>(rate) * g);
      }
      rate /= 2;
    }
    EXPECT_TRUE(same_bits(fitted.state(), stepped.state()));
  }
}

TEST(Step, AScheduleGoesOnInTheMiddleOfAnEpoch) {
  const Dataset data = line_data(16);
  Objective objective;
  objective.optimizer = Adam{.learning_rate = 0.1};
  objective.schedule = CosineDecay{.epochs = 3};
  const auto trainer_of = [&] {
    return Trainer(Model(Network({2}, {Dense{.units = 1}}), {.device = "cpu"}), objective);
  };
  Trainer whole = trainer_of();
  whole.fit(data, {.batch = 8});
  std::vector<Batch> batches;
  for (const Batch& batch : whole.batches(data, {.size = 4})) batches.push_back(batch);
  whole.step(batches[0]);
  const State between = whole.state();
  Trainer other = trainer_of();
  other.load_state(between);
  for (std::size_t i = 1; i < batches.size(); ++i) {
    whole.step(batches[i]);
    other.step(batches[i]);
  }
  whole.fit(data, {.epochs = 2, .batch = 8});
  other.fit(data, {.epochs = 2, .batch = 8});
  EXPECT_TRUE(same_bits(whole.state(), other.state()));
}

}  // namespace
}  // namespace linnet::testing
