// SPDX-License-Identifier: Apache-2.0
// Moving averages of weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "../message_of.h"
#include "fixtures.h"

namespace linnet::testing {
namespace {

Dataset four_samples() {
  return Dataset({{"x", Tensor(std::vector<float>{1, 2, -1, 0.5F, 0.25F, -2, 3, 1}, {4, 2})}},
                 {{"y", Tensor(std::vector<float>{1, 0, 0, 1, -1, 1, 2, -1}, {4, 2})}});
}

Model line() {
  Model model(Network({2}, {Dense{.units = 2, .name = "d"}}), {.device = "cpu", .threads = 2});
  set_parameter(model, "d.weight", {0.5F, -0.25F, 0.125F, 0.75F});
  set_parameter(model, "d.bias", {0.1F, -0.2F});
  return model;
}

Objective averaging(double decay) {
  Objective objective;
  objective.optimizer = SGD{.learning_rate = 0.05};
  objective.average = {.decay = decay};
  return objective;
}

TEST(Average, IsThatOfTorch) {
  Trainer trainer(line(), averaging(0.9));
  trainer.fit(four_samples(), {.epochs = 6, .batch = 4, .shuffle = false});
  // torch.optim.swa_utils.AveragedModel with get_ema_multi_avg_fn(0.9), torch.nn.Linear and SGD.
  const std::vector<float> weight{0.5363667F, -0.0992518F, -0.0428328F, 0.5205506F};
  const std::vector<float> bias{0.1036031F, -0.1776493F};
  const std::vector<float> raw{0.5604267F, 0.0875567F, -0.2190329F, 0.2495482F};
  const Model averaged = trainer.averaged();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(parameter(averaged, "d.weight")[i], weight[i], 1e-6);
    EXPECT_NEAR(parameter(trainer.model(), "d.weight")[i], raw[i], 1e-6);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(parameter(averaged, "d.bias")[i], bias[i], 1e-6);
  }
}

TEST(Average, IsPartOfTheStateAndOfSeveralBatchesSteps) {
  const Dataset data = four_samples();
  Trainer whole(line(), averaging(0.8));
  whole.fit(data, {.epochs = 5, .batch = 4, .shuffle = false});
  Trainer first(line(), averaging(0.8));
  first.fit(data, {.epochs = 2, .batch = 4, .shuffle = false});
  Trainer second(line(), averaging(0.8));
  second.load_state(first.state());
  second.fit(data, {.epochs = 3, .batch = 4, .shuffle = false});
  EXPECT_EQ(all_weights(second.averaged()), all_weights(whole.averaged()));
  EXPECT_NE(all_weights(whole.averaged()), all_weights(whole.model()));

  Trainer parts(line(), averaging(0.8));
  parts.fit(data, {.epochs = 5, .batch = 4, .shards = 2, .shuffle = false});
  const std::vector<float> a = all_weights(parts.averaged());
  const std::vector<float> b = all_weights(whole.averaged());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(Average, TakesTheRunningStatisticsAsTheyAre) {
  Model model(Network({2}, {Dense{.units = 3}, BatchNorm{.name = "norm"}, Dense{.units = 2}}),
              {.device = "cpu", .threads = 2});
  Trainer trainer(model, averaging(0.9));
  trainer.fit(four_samples(), {.epochs = 3, .batch = 4});
  const Model averaged = trainer.averaged();
  EXPECT_EQ(parameter(averaged, "norm.running_var"), parameter(model, "norm.running_var"));
  EXPECT_NE(parameter(averaged, "norm.weight"), parameter(model, "norm.weight"));
}

TEST(Average, OfFrozenWeightsIsThese) {
  Model model(Network({2}, {Dense{.units = 3, .name = "body"}, Dense{.units = 2, .name = "head"}}),
              {.device = "cpu", .threads = 2});
  Objective objective = averaging(0.9999);
  objective.trains = {{.name = "head.*"}};
  Trainer trainer(model, objective);
  trainer.fit(four_samples(), {.epochs = 50, .batch = 4});
  const Model averaged = trainer.averaged();
  EXPECT_EQ(parameter(averaged, "body.weight"), parameter(model, "body.weight"));
  EXPECT_NE(parameter(averaged, "head.weight"), parameter(model, "head.weight"));
}

Network normed() {
  return Network({2},
                 {Dense{.units = 6}, BatchNorm{}, ReLU{}, Dropout{.rate = 0.2}, Dense{.units = 2}});
}

/// Returns the loss in the batches of the fits below, so that sums have the same order.
double loss_of(Model& model) { return evaluate(model, four_samples(), Loss::automatic, 2).loss; }

/// Asks for the average after each epoch, and measures it.
struct Averages : Callback {
  explicit Averages(Trainer& of) : trainer(of) {}
  void on_epoch(const EpochReport& report) override {
    Model averaged = trainer.averaged();
    losses.push_back(loss_of(averaged));
    raw.push_back(trainer.evaluate(four_samples(), 2).loss);
    reported.push_back(report.validation.loss);
    tested.push_back(report.test.samples > 0 ? report.test.loss : 0);
    weights.push_back(all_weights(averaged));
  }
  Trainer& trainer;
  std::vector<double> losses;
  std::vector<double> raw;
  std::vector<double> reported;
  std::vector<double> tested;
  std::vector<std::vector<float>> weights;
};

TEST(Average, IsWhatAFitEvaluates) {
  Objective objective = averaging(0.7);
  objective.optimizer = SGD{.learning_rate = 0.3};
  Trainer trainer(Model(normed(), {.device = "cpu", .threads = 2, .seed = 1}), objective);
  for (int fit = 0; fit < 2; ++fit) {  // the second one runs the programs of the first
    Averages averages(trainer);
    trainer.fit(four_samples(), {.epochs = 4,
                                 .batch = 2,
                                 .validation = four_samples(),
                                 .test = four_samples(),
                                 .keep_best = true,
                                 .callback = &averages});
    EXPECT_EQ(averages.reported, averages.losses);
    EXPECT_NE(averages.reported, averages.raw);
    EXPECT_EQ(averages.tested.back(), averages.losses.back());
    EXPECT_NE(all_weights(trainer.model()), averages.weights.back());
  }
}

TEST(Average, IsWhatKeepBestKeepsAndPatienceWatches) {
  Objective objective = averaging(0.5);
  objective.optimizer = SGD{.learning_rate = 1.6};  // the loss soon rises
  Trainer trainer(line(), objective);
  Averages averages(trainer);
  const History history = trainer.fit(four_samples(), {.epochs = 40,
                                                       .batch = 2,
                                                       .validation = four_samples(),
                                                       .patience = 2,
                                                       .keep_best = true,
                                                       .callback = &averages});
  ASSERT_TRUE(history.stopped_early);
  const auto best = std::ranges::min_element(averages.losses) - averages.losses.begin();
  EXPECT_EQ(std::ssize(averages.losses), best + 3);
  EXPECT_EQ(all_weights(trainer.best()), averages.weights[static_cast<std::size_t>(best)]);
}

TEST(Average, IsWhatTrainLeaves) {
  TrainingOptions options{.epochs = 3,
                          .batch = 2,
                          .optimizer = SGD{.learning_rate = 0.1},
                          .average = {.decay = 0.8}};
  Trainer trainer(line(), averaging(0.8));
  Objective objective = averaging(0.8);
  objective.optimizer = options.optimizer;
  Trainer same(line(), objective);
  same.fit(four_samples(), {.epochs = 3, .batch = 2});
  Model last = line();
  const Dataset test = four_samples();
  const History history = train(last, four_samples(), options, &test);
  EXPECT_EQ(all_weights(last), all_weights(same.averaged()));
  EXPECT_EQ(history.epochs.back().test.loss, loss_of(last));
  options.keep_best = true;
  Model best = line();
  const History kept = train(best, {.train = four_samples(), .validation = test}, options);
  std::vector<double> losses;
  for (const EpochReport& epoch : kept.epochs) losses.push_back(epoch.validation.loss);
  EXPECT_EQ(loss_of(best), *std::ranges::min_element(losses));
}

TEST(Average, RefusesWhatIsNotThere) {
  EXPECT_EQ(message_of([] { Trainer(line(), averaging(1)); }),
            "[average] expected decay to be in [0, 1); got 1");
  Trainer plain(line());
  EXPECT_EQ(message_of([&] { plain.averaged(); }),
            "no average of the weights is kept; set Objective::average");
  Trainer fresh(line(), averaging(0.9));
  EXPECT_EQ(message_of([&] { fresh.averaged(); }),
            "there is no average of the weights before the first step");
}

}  // namespace
}  // namespace linnet::testing
