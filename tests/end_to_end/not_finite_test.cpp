// SPDX-License-Identifier: Apache-2.0
// A training that meets something not finite stops before that harms a weight.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../message_of.h"
#include "fixtures.h"

namespace linnet::testing {
namespace {

Network with_norm() {
  return Network({2}, {Dense{.units = 4, .name = "first"}, BatchNorm{}, ReLU{},
                       Dense{.units = 2, .name = "last"}});
}

/// Its first step is finite, its second one no longer.
Objective explosive() {
  Objective objective;
  objective.optimizer = SGD{.learning_rate = 1e30, .momentum = 0.9};
  return objective;
}

/// Its value is finite, its gradient is not.
Objective bad_gradient() {
  Objective objective;
  objective.custom_loss = [](const Expression& y, const Expression& t) {
    return square(y - t) + sqrt(square(y - y));
  };
  return objective;
}

std::vector<float> state_of(const Trainer& trainer) {
  std::vector<float> all;
  for (const auto& [name, value] : trainer.state()) {
    if (value.dtype() != DType::f32) continue;
    const auto values = value.as<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

Trainer trainer_of(const Objective& objective, int threads = 2) {
  return Trainer(Model(with_norm(), {.device = "cpu", .threads = threads, .seed = 1}), objective,
                 {.seed = 4});
}

std::vector<Batch> batches_of(const Trainer& trainer, const Dataset& data) {
  std::vector<Batch> batches;
  for (const Batch& batch : trainer.batches(data, {.size = 4})) batches.push_back(batch);
  return batches;
}

TEST(NotFinite, AStepIsNamedAndTheWeightsAreThoseBefore) {
  const Dataset data = sums_data(24);
  Trainer good = trainer_of(explosive());
  good.step(batches_of(good, data)[0]).loss();

  Trainer trainer = trainer_of(explosive());
  const std::vector<Batch> batches = batches_of(trainer, data);
  const StepResult first = trainer.step(batches[0]);
  for (std::size_t i = 1; i < 5; ++i) trainer.step(batches[i]);
  const std::string message = message_of([&] { static_cast<void>(first.loss()); });
  EXPECT_EQ(message.find("the output of ["), 0U) << message;
  EXPECT_NE(message.find("'] became NaN or infinite in epoch 1, step 1 of the training"),
            std::string::npos)
      << message;
  EXPECT_EQ(state_of(trainer), state_of(good));
  EXPECT_EQ(trainer.steps(), 1U);
  // And it can go on: to the same end.
  trainer.step(batches[1]);
  EXPECT_EQ(message_of([&] { trainer.fit(data, {.batch = 4}); }), message);
}

TEST(NotFinite, AGradientAloneIsFoundAtItsOperator) {
  const Dataset data = sums_data(24);
  Trainer fresh = trainer_of(bad_gradient());
  Trainer trainer = trainer_of(bad_gradient());
  const StepResult step = trainer.step(batches_of(trainer, data)[0]);
  const std::string message = message_of([&] { static_cast<void>(step.loss()); });
  EXPECT_NE(message.find("'loss'] became NaN or infinite in epoch 1, step 0"), std::string::npos)
      << message;
  EXPECT_EQ(state_of(trainer), state_of(fresh));
}

TEST(NotFinite, FitNamesTheEpochAndTheStep) {
  const Dataset data = sums_data(24);
  for (const int threads : {1, 2}) {
    Trainer good = trainer_of(explosive());
    good.step(batches_of(good, data)[0]).loss();
    Trainer trainer = trainer_of(explosive(), threads);
    const std::string message = message_of([&] { trainer.fit(data, {.epochs = 3, .batch = 4}); });
    EXPECT_NE(message.find("in epoch 1, step 1 of the training"), std::string::npos) << message;
    EXPECT_EQ(state_of(trainer), state_of(good));
    EXPECT_EQ(trainer.steps(), 1U);
    EXPECT_EQ(trainer.epochs(), 0);
  }
}

TEST(NotFinite, StepsOverSeveralBatchesStopAsWell) {
  const Dataset data = sums_data(24);
  Trainer good = trainer_of(explosive());
  const std::vector<Batch> of_good = batches_of(good, data);
  good.step(std::span(of_good).first(2)).loss();
  Trainer trainer = trainer_of(explosive());
  const std::string message =
      message_of([&] { trainer.fit(data, {.epochs = 2, .batch = 8, .shards = 2}); });
  EXPECT_EQ(message.find("the output of ["), 0U) << message;
  EXPECT_NE(message.find("in epoch 1, step 1"), std::string::npos) << message;
  EXPECT_EQ(state_of(trainer), state_of(good));
}

/// Rows of a tensor f32 (N, 2); row 17 is NaN in epoch 2.
class Broken final : public RecordSource {
 public:
  explicit Broken(Tensor rows) : rows_(std::move(rows)) {}
  std::int64_t size() const override { return rows_.shape()[0]; }
  DType dtype() const override { return DType::f32; }
  Shape record() const override { return {2}; }
  void read(std::int64_t index, std::span<std::byte> to) const override {
    std::ranges::copy(rows_.rows(index, index + 1).bytes(), to.begin());
  }
  void read_in_epoch(std::int64_t index, std::int64_t epoch,
                     std::span<std::byte> to) const override {
    read(index, to);
    if (epoch == 2 && index == 17) *reinterpret_cast<float*>(to.data()) = NAN;
  }

 private:
  Tensor rows_;
};

TEST(NotFinite, OfSeveralBatchesTheOneThatIsNotFiniteIsNamed) {
  const Dataset sums = sums_data(24);
  const Dataset data({{.name = "x", .source = std::make_shared<Broken>(first_input(sums))}},
                     sums.targets());
  for (const bool shuffle : {true, false}) {
    Trainer trainer = trainer_of({});
    const std::string message = message_of(
        [&] { trainer.fit(data, {.epochs = 3, .batch = 12, .shards = 4, .shuffle = shuffle}); });
    EXPECT_EQ(message.find("the output of [gather_batch '"), 0U) << message;
    EXPECT_NE(message.find("in epoch 2"), std::string::npos) << message;
  }
}

TEST(NotFinite, AStateThatIsLoadedTrainsOn) {
  const Dataset data = sums_data(24);
  Trainer trainer = trainer_of(explosive());
  const State start = trainer.state();
  const std::vector<Batch> batches = batches_of(trainer, data);
  for (std::size_t i = 0; i < 3; ++i) trainer.step(batches[i]);
  trainer.load_state(start);
  trainer.step(batches[0]);
  Trainer good = trainer_of(explosive());
  good.step(batches[0]);
  EXPECT_EQ(state_of(trainer), state_of(good));
}

TEST(NotFinite, OneTrainerStopsNoOther) {
  const Dataset data = sums_data(24);
  const Model model(with_norm(), {.device = "cpu", .threads = 2, .seed = 1});
  Trainer bad(model, bad_gradient(), {.seed = 4});
  Trainer good(model, {.optimizer = SGD{.learning_rate = 0.01}}, {.seed = 4});
  Trainer alone = trainer_of({.optimizer = SGD{.learning_rate = 0.01}});
  const StepResult refused = bad.step(batches_of(bad, data)[0]);
  for (const Batch& batch : batches_of(good, data)) {
    EXPECT_EQ(good.step(batch).loss(), alone.step(batch).loss());
  }
  EXPECT_EQ(state_of(good), state_of(alone));
  EXPECT_EQ(good.steps(), 6U);
  EXPECT_NE(message_of([&] { static_cast<void>(refused.loss()); }).find("in epoch 1, step 0"),
            std::string::npos);
  EXPECT_EQ(bad.steps(), 0U);
  EXPECT_EQ(good.steps(), 6U);
}

TEST(NotFinite, LossesOfStepsAreTheTrainersOwn) {
  const Dataset data = sums_data(24);
  const Model model(with_norm(), {.device = "cpu", .threads = 2, .seed = 1});
  Trainer first(model, {.optimizer = SGD{.learning_rate = 0.01}});
  Trainer second(model, {.optimizer = SGD{.learning_rate = 0.01}});
  const std::vector<Batch> batches = batches_of(first, data);
  const StepResult step = first.step(batches[0]);
  const float loss = step.loss();
  EXPECT_NE(second.step(batches[1]).loss(), loss);
  EXPECT_EQ(step.loss(), loss);
}

TEST(NotFinite, AnEvaluationTellsOfIt) {
  const Dataset data = sums_data(24);
  Trainer trainer = trainer_of(bad_gradient());
  trainer.step(batches_of(trainer, data)[0]);
  EXPECT_NE(message_of([&] { trainer.evaluate(data); }).find("in epoch 1, step 0"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { trainer.evaluate(data); }), "");
}

/// All gradients are finite; the update makes infinities of them.
TEST(NotFinite, AnUpdateThatOverflowsIsNamedAtItsStep) {
  const Dataset data = sums_data(24);
  Objective objective;
  objective.optimizer = SGD{.learning_rate = 1e-3};
  objective.schedule = [](double, std::uint64_t step) { return step < 8 ? 1.0 : 1e42; };
  const std::string expected =
      "became NaN or infinite in the update of step 8 of the training "
      "(counted from 0) or an earlier one; a lower learning rate, gradient "
      "clipping or scaled inputs may help";
  Trainer trainer = trainer_of(objective);
  const std::string of_fit =
      message_of([&] { trainer.fit(data, {.epochs = 3, .batch = 4, .keep_best = true}); });
  EXPECT_NE(of_fit.find(expected), std::string::npos) << of_fit;
  EXPECT_EQ(trainer.steps(), 9U);
  for (const float weight : all_weights(trainer.best())) EXPECT_TRUE(std::isfinite(weight));
  EXPECT_NE(message_of([&] { static_cast<void>(trainer.state()); }).find(expected),
            std::string::npos);

  Trainer stepped = trainer_of(objective);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const Batch& batch : batches_of(stepped, data)) {
      if (stepped.steps() < 9) stepped.step(batch);
    }
  }
  EXPECT_NE(message_of([&] { static_cast<void>(stepped.state()); }).find(expected),
            std::string::npos);
}

}  // namespace
}  // namespace linnet::testing
