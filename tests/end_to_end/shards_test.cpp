// SPDX-License-Identifier: Apache-2.0
// Steps in shards of a batch, or over several batches, as if they were one.
#include <gtest/gtest.h>

#include <cmath>

#include "counting_backend.h"
#include "fixtures.h"
#include "model/model_state.h"
#include "pixels.h"

namespace linnet::testing {
namespace {

std::vector<Batch> batches_of(const Trainer& trainer, const Dataset& data, std::int64_t size) {
  std::vector<Batch> batches;
  for (const Batch& batch : trainer.batches(data, {.size = size})) batches.push_back(batch);
  return batches;
}

/// Returns what one step over all of the data, in batches of this size, takes off the weights.
std::vector<double> gradient(const Network& network, const Dataset& data, Objective objective,
                             std::int64_t size, int threads = 2) {
  objective.optimizer = SGD{.learning_rate = 1};
  Model model(network, {.device = "cpu", .threads = threads, .seed = 3});
  const std::vector<float> before = all_weights(model);
  Trainer trainer(model, std::move(objective), {.seed = 9});
  trainer.step(batches_of(trainer, data, size)).loss();
  const std::vector<float> after = all_weights(model);
  std::vector<double> difference(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    difference[i] = static_cast<double>(before[i]) - static_cast<double>(after[i]);
  }
  return difference;
}

double relative_error(const std::vector<double>& a, const std::vector<double>& expected) {
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error += (a[i] - expected[i]) * (a[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(error / norm);
}

/// Rounding of the weights, from which the gradient is read, is a part of the error.
constexpr double kTolerance = 1e-6;

TEST(Shards, TheGradientIsThatOfTheLargeBatch) {
  const Dataset data = pixels(22);
  const std::vector<double> whole = gradient(with_dropout(), data, {}, 22);
  for (const std::int64_t size : {11, 8, 5, 4, 3, 2, 1}) {  // 2 to 22 leaves, most of them uneven
    EXPECT_LE(relative_error(gradient(with_dropout(), data, {}, size), whole), kTolerance) << size;
  }
}

TEST(Shards, WeightedAndIgnoredLabelsCountAsInTheLargeBatch) {
  const Dataset data = pixels(22);
  Objective objective;
  objective.loss_options.class_weights = {0.2, 3, 1, 0.5, 7};
  objective.loss_options.ignore_index = 2;
  const std::vector<double> whole = gradient(with_dropout(), data, objective, 22);
  EXPECT_GT(relative_error(gradient(with_dropout(), data, {}, 22), whole), 0.01);
  for (const std::int64_t size : {12, 5, 1}) {  // a shard of one may hold an ignored label alone
    EXPECT_LE(relative_error(gradient(with_dropout(), data, objective, size), whole), kTolerance)
        << size;
  }
}

TEST(Shards, TheLossIsThatOfTheLargeBatch) {
  const Dataset data = pixels(22);
  Objective objective;
  objective.loss_options.class_weights = {0.2, 3, 1, 0.5, 7};
  objective.loss_options.ignore_index = 2;
  const auto loss = [&](std::int64_t size) {
    Trainer trainer(Model(with_dropout(), {.device = "cpu", .seed = 3}), objective, {.seed = 9});
    return trainer.step(batches_of(trainer, data, size)).loss();
  };
  for (const std::int64_t size : {12, 5, 1}) EXPECT_NEAR(loss(size), loss(22), 2e-6) << size;
}

TEST(Shards, SchedulesCountStepsNotBatches) {
  const Dataset data = pixels(24);
  std::vector<double> epochs;
  Objective objective;
  objective.schedule = [&](double epoch, std::uint64_t) {
    epochs.push_back(epoch);
    return 1.0;
  };
  Trainer trainer(Model(with_dropout(), {.device = "cpu"}), objective);
  for (int epoch = 0; epoch < 2; ++epoch) {
    const std::vector<Batch> batches = batches_of(trainer, data, 4);
    trainer.step(std::span(batches).first(3));
    trainer.step(std::span(batches).last(3));
  }
  EXPECT_EQ(epochs, (std::vector<double>{0, 0.5, 1, 1.5}));
}

TEST(Shards, ABatchMayHaveFewerSamplesThanShards) {
  const auto trained = [](std::int64_t shards) {
    Model model(with_dropout(), {.device = "cpu", .seed = 3});
    Trainer trainer(model, {.optimizer = SGD{}}, {.seed = 9});
    trainer.fit(pixels(22), {.batch = 8, .shards = shards});  // the last one has 6
    return all_weights(model);
  };
  const std::vector<float> eight = trained(8);
  EXPECT_EQ(trained(16).size(), eight.size());
  for (const std::int64_t shards : {8, 16, 64}) {
    const std::vector<float> found = trained(shards);
    double difference = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      difference = std::max(difference, std::abs(double{found[i]} - double{eight[i]}));
    }
    EXPECT_LE(difference, 1e-6) << shards;
  }
}

TEST(Shards, WeightsOfSamplesCountAsInTheLargeBatch) {
  Dataset data = pixels(22);
  std::vector<float> weights(22);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = i % 7 == 3 ? 0.0F : 0.3F * (i % 5);
  data.set_weights(Tensor(std::move(weights)));
  Objective objective;
  objective.loss_options.class_weights = {0.2, 3, 1, 0.5, 7};
  for (const Objective& of : {Objective{}, objective}) {
    const std::vector<double> whole = gradient(with_dropout(), data, of, 22);
    for (const std::int64_t size : {12, 5, 1}) {
      EXPECT_LE(relative_error(gradient(with_dropout(), data, of, size), whole), kTolerance)
          << size;
    }
  }
}

/// Returns what the first update's momentum is after fit() with so many shards of it: the
/// gradient.
std::vector<double> fitted_gradient(const Network& network, Objective objective,
                                    const Augment& augment, std::int64_t shards) {
  objective.optimizer = SGD{.learning_rate = 0.1, .momentum = 0.9};
  Trainer trainer(Model(network, {.device = "cpu", .threads = 2, .seed = 3}), std::move(objective),
                  {.seed = 9});
  FitOptions options{.batch = 24, .shards = shards};
  options.augment = augment;
  trainer.fit(pixels(24), options);
  EXPECT_EQ(trainer.steps(), 1U);
  std::vector<double> gradient;
  for (const auto& [name, value] : trainer.state().part("optimizer/moment1/")) {
    gradient.insert(gradient.end(), value.as<float>().begin(), value.as<float>().end());
  }
  return gradient;
}

TEST(Shards, WhatIsDrawnIsThatOfTheLargeBatch) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {8, 8, 1}) | Rescale{} | Flatten{};
  const Network noisy =
      functional.build({{"y", concat({x, functional.normal({4})}, 0) | Dense{.units = 9} | Tanh{} |
                                  Dropout{0.3} | Dense{.units = 5}}});
  Objective brier;
  brier.custom_loss = [](const Expression& y, const Expression& t) {
    return sum(square(softmax(y) - t));
  };
  Augment augment{.padding = 2, .flip = 0.5, .brightness = 0.3, .cutout = 3};
  augment.crop = true;
  for (const Augment& drawn :
       {Augment{}, augment, Augment{.resized_crop = true}, Augment{.alternating_flip = true}}) {
    const std::vector<double> whole = fitted_gradient(noisy, brier, drawn, 1);
    for (const std::int64_t shards : {2, 4, 16}) {
      EXPECT_LE(relative_error(fitted_gradient(noisy, brier, drawn, shards), whole), kTolerance)
          << shards;
    }
  }
}

TEST(Shards, PenaltiesCountOnce) {
  const Dataset data = pixels(12);
  Objective objective;
  objective.loss_options.l1 = 0.01;
  objective.loss_options.l2 = 0.1;
  EXPECT_LE(relative_error(gradient(with_dropout(), data, objective, 5),
                           gradient(with_dropout(), data, objective, 12)),
            kTolerance);
}

TEST(Shards, BitsDoNotDependOnThreads) {
  const Dataset data = pixels(22);
  const std::vector<double> one = gradient(with_dropout(), data, {}, 5, 1);
  for (const int threads : {2, 4}) EXPECT_EQ(gradient(with_dropout(), data, {}, 5, threads), one);
}

TEST(Shards, BatchNormsTakeTheMeanOfTheLeavesStatisticsOnce) {
  const Network network({8, 8, 1}, {Rescale{}, Conv2d{.filters = 4}, BatchNorm{.name = "norm"},
                                    ReLU{}, Flatten{}, Dense{.units = 5}});
  const Dataset data = pixels(12);
  const auto statistics = [&](std::size_t begin, std::size_t end) {
    Model model(network, {.device = "cpu", .threads = 2, .seed = 3});
    Trainer trainer(model, {.optimizer = SGD{.learning_rate = 1e-3}}, {.seed = 9});
    const std::vector<Batch> batches = batches_of(trainer, data, 5);
    trainer.step(std::span(batches).subspan(begin, end - begin));
    std::vector<float> values = parameter(model, "norm.running_mean");
    const std::vector<float> variances = parameter(model, "norm.running_var");
    values.insert(values.end(), variances.begin(), variances.end());
    return values;
  };
  const auto first = statistics(0, 1);
  const auto second = statistics(1, 2);
  const auto third = statistics(2, 3);
  const auto all = statistics(0, 3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR(all[i], (5 * first[i] + 5 * second[i] + 2 * third[i]) / 12, 1e-6) << i;
  }
}

TEST(Shards, FitIsALoopOfSteps) {
  const Dataset data = pixels(22);
  const auto trainer_of = [&] {
    return Trainer(Model(with_dropout(), {.device = "cpu", .threads = 2, .seed = 3}),
                   {.optimizer = Adam{}, .schedule = CosineDecay{.epochs = 4}}, {.seed = 9});
  };
  Trainer fitted = trainer_of();
  const History history = fitted.fit(data, {.epochs = 2, .batch = 16, .shards = 4});
  EXPECT_EQ(fitted.steps(), 4U);  // of 16 samples and of 6, twice
  EXPECT_EQ(history.epochs[1].step_losses.size(), 2U);
  EXPECT_EQ(history.epochs[1].train.samples, 22);

  Trainer whole = trainer_of();
  const History expected = whole.fit(data, {.epochs = 2, .batch = 16});
  for (std::size_t e = 0; e < 2; ++e) {
    const Evaluation& large = expected.epochs[e].train;
    EXPECT_NEAR(history.epochs[e].train.loss, large.loss, 1e-5 * large.loss);
    EXPECT_EQ(history.epochs[e].train.accuracy, large.accuracy);
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_NEAR(history.epochs[e].step_losses[s], expected.epochs[e].step_losses[s], 1e-5);
    }
  }

  Trainer parts = trainer_of();
  parts.fit(data, {.epochs = 1, .batch = 16, .shards = 4});
  parts.fit(data, {.epochs = 1, .batch = 16, .shards = 4});
  EXPECT_EQ(all_weights(parts.model()), all_weights(fitted.model()));

  Trainer loop = trainer_of();
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const Batch& batch : loop.batches(data, {.size = 16, .shards = 4})) {
      const State gradients = loop.gradients(batch);
      EXPECT_GT(gradients.size(), 0U);
      loop.step(batch);
    }
  }
  EXPECT_EQ(all_weights(loop.model()), all_weights(fitted.model()));
}

TEST(Shards, ShardsOfABatchAreBatchesOfAStep) {
  const Dataset data = pixels(22);
  const auto trained = [&](bool shards) {
    Trainer trainer(Model(with_dropout(), {.device = "cpu", .threads = 2, .seed = 3}),
                    {.optimizer = SGD{.learning_rate = 0.1}}, {.seed = 9});
    if (shards) {
      trainer.step(*trainer.batches(data, {.size = 16, .shards = 4}).begin());
    } else {
      const std::vector<Batch> batches = batches_of(trainer, data, 4);
      trainer.step(std::span(batches).first(4));
    }
    return all_weights(trainer.model());
  };
  EXPECT_EQ(trained(true), trained(false));
}

TEST(Shards, ShardsAreAPowerOfTwo) {
  Trainer trainer(Model(with_dropout(), {.device = "cpu"}));
  EXPECT_THROW(trainer.fit(pixels(8), {.batch = 8, .shards = 3}), Error);
  EXPECT_THROW(trainer.fit(pixels(8), {.batch = 8, .shards = -1}), Error);
  EXPECT_THROW(trainer.batches(pixels(8), {.size = 8, .shards = 6}), Error);
  const BatchRange sharded = trainer.batches(pixels(8), {.size = 4, .shards = 2});
  const std::vector<Batch> both(2, *sharded.begin());
  EXPECT_THROW(trainer.step(both), Error);
}

TEST(Shards, ASecondStepCompilesAndAllocatesNothing) {
  const auto counts = std::make_shared<Counts>();
  Model model{make_state(
      with_dropout(),
      std::make_unique<CountingBackend>(open_backend({.device = "cpu", .threads = 2}), counts), 1)};
  const Dataset data = pixels(22);
  Trainer trainer(model, {.optimizer = Adam{}});
  trainer.step(batches_of(trainer, data, 4));
  const std::vector<Batch> batches = batches_of(trainer, data, 4);
  *counts = {};
  trainer.step(batches);
  trainer.step(std::span(batches).first(3));
  EXPECT_EQ(*counts, Counts{});
}

TEST(Shards, GradientsBetweenStepsChangeNothing) {
  const Dataset data = pixels(22);
  const auto found = [&](bool looks) {
    Model model(with_dropout(), {.device = "cpu", .threads = 2, .seed = 3});
    Trainer trainer(model, {.optimizer = Adam{}}, {.seed = 9});
    const std::vector<Batch> batches = batches_of(trainer, data, 8);
    std::vector<float> found;
    for (int i = 0; i < 3; ++i) {
      if (looks) trainer.gradients(batches[1]);
      found.push_back(trainer.step(batches).loss());
    }
    const std::vector<float> after = all_weights(model);
    found.insert(found.end(), after.begin(), after.end());
    return found;
  };
  EXPECT_EQ(found(true), found(false));
}

TEST(Shards, BatchesAreOfOneDataSet) {
  Model model(with_dropout(), {.device = "cpu"});
  Trainer trainer(model);
  std::vector<Batch> batches = batches_of(trainer, pixels(8), 4);
  batches.push_back(*trainer.batches(pixels(8), {.size = 4}).begin());
  EXPECT_THROW(trainer.step(batches), Error);
  EXPECT_THROW(trainer.step(std::span<const Batch>{}), Error);
}

}  // namespace
}  // namespace linnet::testing
