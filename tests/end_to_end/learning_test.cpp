// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "fixtures.h"
#include "networks/networks.h"

namespace linnet::testing {
namespace {

/// A rival binds the flattened view of a scaled input to memory that training never writes: there
/// this network does not learn at all.
TEST(Learning, ScalingThenFlattenThenDenseLearns) {
  const Splits digits = datasets::digits(600, 200, 1);
  Model model(Network({28, 28, 1}, {Rescale{}, Flatten{}, Dense{.units = 10}}));
  const History history =
      train(model, digits.train,
            {.epochs = 20, .batch = 16, .optimizer = Adam{.learning_rate = 5e-3}}, &digits.test);
  EXPECT_GT(history.epochs.front().train.loss, 1.0);
  EXPECT_LT(history.epochs.back().train.loss, 0.6);
  EXPECT_GT(history.epochs.back().test.accuracy, 0.8);
}

TEST(Learning, AConvolutionalNetworkLearns) {
  const Splits digits = datasets::digits(600, 200, 2);
  Model model(workloads::mnist_cnn());
  const History history =
      train(model, digits.train,
            {.epochs = 12, .batch = 16, .optimizer = Adam{.learning_rate = 4e-3}}, &digits.test);
  EXPECT_GT(history.epochs.back().test.accuracy, 0.9);
  const Evaluation evaluation = evaluate(model, digits.test);
  EXPECT_NEAR(evaluation.loss, history.epochs.back().test.loss, 1e-6);
  EXPECT_EQ(evaluation.accuracy, history.epochs.back().test.accuracy);
}

TEST(Learning, AnMlpLearnsARegression) {
  const Dataset data = sums_data(512);
  Model model(Network({2}, {Dense{.units = 16}, Tanh{}, Dense{.units = 2}}));
  for (Loss loss : {Loss::mse, Loss::mae}) {
    const History history =
        train(model, data,
              {.epochs = 30, .batch = 16, .optimizer = Adam{.learning_rate = 5e-3}, .loss = loss});
    EXPECT_LT(history.epochs.back().train.loss, loss == Loss::mse ? 0.01 : 0.05);
    EXPECT_TRUE(std::isnan(history.epochs.back().train.accuracy));
  }
}

TEST(Learning, BinaryCrossEntropyLearns) {
  const Dataset circle = circle_data(400);
  const Dataset data = data_of(first_input(circle).to(DType::f32),
                               first_target(circle).to(DType::f32).reshaped({400, 1}));
  Model model(Network({2}, {Rescale{}, Dense{.units = 16}, ReLU{}, Dense{.units = 1}}));
  const History history = train(model, data,
                                {.epochs = 60,
                                 .batch = 16,
                                 .optimizer = Adam{.learning_rate = 1e-2},
                                 .loss = Loss::binary_cross_entropy});
  EXPECT_LT(history.epochs.back().train.loss, 0.25);
}

/// Each learns, and each setting changes what the training does: no two give the same loss.
TEST(Learning, EveryOptimizerLearnsAndEverySettingCounts) {
  const Dataset data = circle_data(400);
  std::map<double, std::string> losses;  // of the last epoch
  const auto after = [&](const std::string& name, TrainingOptions options) {
    Model model(Network({2}, {Rescale{.scale = 1.0 / 128, .shift = -1}, Dense{.units = 24}, ReLU{},
                              Dense{.units = 2}}));
    options.epochs = 60;
    options.batch = 16;
    const History history = train(model, data, options);
    const double loss = history.epochs.back().train.loss;
    const auto [same, is_new] = losses.emplace(loss, name);
    EXPECT_TRUE(is_new) << name << " trains exactly as " << same->second << " does";
    return history;
  };
  const auto learns = [&](const std::string& name, const TrainingOptions& options, double loss) {
    const History history = after(name, options);
    EXPECT_GT(history.epochs.front().train.loss, 1.3 * loss) << name;
    EXPECT_LT(history.epochs.back().train.loss, loss) << name;
    return history;
  };
  learns("sgd", {.optimizer = SGD{.learning_rate = 0.2}}, 0.25);
  learns("momentum", {.optimizer = SGD{.learning_rate = 0.05, .momentum = 0.9}}, 0.25);
  learns("nesterov", {.optimizer = SGD{.learning_rate = 0.05, .momentum = 0.9, .nesterov = true}},
         0.25);
  learns("adam", {.optimizer = Adam{.learning_rate = 1e-2}}, 0.25);
  learns("adamw", {.optimizer = AdamW{.learning_rate = 1e-2}}, 0.25);
  learns("rmsprop", {.optimizer = RMSprop{.learning_rate = 5e-3}}, 0.25);
  learns("adagrad", {.optimizer = Adagrad{.learning_rate = 5e-2}}, 0.25);
  learns("lion", {.optimizer = Lion{.learning_rate = 3e-3}}, 0.25);
  learns("muon", {.optimizer = Muon{.learning_rate = 2e-2, .adam_learning_rate = 1e-2}}, 0.25);
  learns("weight decay", {.optimizer = SGD{.learning_rate = 0.2, .weight_decay = 1e-3}}, 0.3);
  TrainingOptions scheduled{.optimizer = SGD{.learning_rate = 0.2},
                            .schedule = CosineDecay{.floor = 0.1},
                            .warmup = {.epochs = 2}};
  const History by_schedule = learns("schedule", scheduled, 0.3);
  EXPECT_LT(by_schedule.epochs[0].learning_rate, 0.11);  // half of the warm-up
  EXPECT_NEAR(by_schedule.epochs[2].learning_rate, 0.2, 0.002);
  EXPECT_NEAR(by_schedule.epochs[59].learning_rate, 0.1 * 0.2, 1e-4);
  TrainingOptions clipped = scheduled;
  clipped.clip.norm = 0.5;
  learns("clipped", clipped, 0.3);
  clipped.clip = {.value = 0.1};
  learns("clipped by value", clipped, 0.3);
}

TEST(Learning, EveryLayerTrains) {
  const Dataset digits = datasets::digits(64, 0, 3).train;
  const Tensor pixels = first_input(digits);
  std::vector<std::uint8_t> corners;  // one of each digit, labelled by three groups
  for (std::int64_t i = 0; i < 64; ++i) {
    for (std::int64_t p = 0; p < 64; ++p) {
      corners.push_back(pixels.as<std::uint8_t>()[static_cast<std::size_t>(
          i * 784 + (p / 8 + 10) * 28 + p % 8 + 10)]);
    }
  }
  std::vector<std::int32_t> groups = vector_of<std::int32_t>(first_target(digits));
  for (std::int32_t& group : groups) group %= 3;
  const Dataset data = data_of(records(corners, {8, 8, 1}), records(groups));
  Model model(every_layer());
  const History history =
      train(model, data, {.epochs = 40, .batch = 16, .optimizer = Adam{.learning_rate = 2e-2}});
  EXPECT_LT(history.epochs.back().train.loss, 0.8 * history.epochs.front().train.loss);
}

}  // namespace
}  // namespace linnet::testing
