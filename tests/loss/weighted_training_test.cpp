// SPDX-License-Identifier: Apache-2.0
// Trainings, evaluations and metrics of data sets whose samples have weights.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cmath>

#include "data_sets.h"
#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

constexpr std::int64_t kSamples = 24;

std::vector<float> points() {
  std::vector<float> xy;
  for (std::int64_t i = 0; i < 2 * kSamples; ++i) {
    xy.push_back(std::sin(static_cast<float>(3 * i + 1)));
  }
  return xy;
}

std::vector<std::int32_t> labels() {
  std::vector<std::int32_t> all;
  for (std::int64_t i = 0; i < kSamples; ++i) all.push_back(static_cast<std::int32_t>(i * i % 3));
  return all;
}

std::vector<float> values() {
  std::vector<float> all;
  for (std::int64_t i = 0; i < 3 * kSamples; ++i) {
    all.push_back(std::abs(std::cos(static_cast<float>(i))));
  }
  return all;
}

/// Sample i weighs i % 3.
std::vector<float> weights() {
  std::vector<float> all;
  for (std::int64_t i = 0; i < kSamples; ++i) all.push_back(static_cast<float>(i % 3));
  return all;
}

Dataset data_set(bool labelled) {
  return labelled ? data_of(records(points(), {2}), records(labels()))
                  : data_of(records(points(), {2}), records(values(), {3}));
}

Dataset weighted(bool labelled) {
  Dataset data = data_set(labelled);
  data.set_weights(Tensor(weights()));
  return data;
}

/// Each sample as often as it weighs.
Dataset repeated(bool labelled) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    rows.insert(rows.end(), static_cast<std::size_t>(i % 3), i);
  }
  return data_set(labelled).take(rows);
}

Model model_of() {
  return Model(Network({2}, {Dense{.units = 8}, Tanh{}, Dense{.units = 3}}),
               {.device = "cpu", .threads = 1});
}

/// Weights of 2 are samples that are there twice.
TEST(WeightedTraining, IsThatOfRepeatedSamples) {
  for (const Loss loss : {Loss::cross_entropy, Loss::focal, Loss::hinge, Loss::mse, Loss::mae,
                          Loss::huber, Loss::minkowski, Loss::quantile, Loss::cosine,
                          Loss::kl_divergence, Loss::binary_cross_entropy}) {
    const bool labelled = loss == Loss::cross_entropy || loss == Loss::focal || loss == Loss::hinge;
    std::vector<std::vector<float>> predictions;
    std::vector<Evaluation> last;
    for (const Dataset& data : {weighted(labelled), repeated(labelled)}) {
      Model model = model_of();
      Trainer trainer(model, {.loss = loss, .optimizer = SGD{.learning_rate = 0.1}});
      const History history =
          trainer.fit(data, {.epochs = 10, .batch = data.size(), .validation = data});
      last.push_back(history.epochs.back().train);
      last.push_back(history.epochs.back().validation);
      last.push_back(trainer.evaluate(data, 5));  // batches of other sums of weights
      EXPECT_EQ(last.back().samples, data.size());
      predictions.push_back(vector_of(model.predict(data_set(labelled))));
    }
    for (std::size_t i = 0; i < predictions[0].size(); ++i) {
      EXPECT_NEAR(predictions[0][i], predictions[1][i], 1e-5) << static_cast<int>(loss);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(last[i].loss, last[i + 3].loss, 1e-5) << static_cast<int>(loss);
      if (!labelled) continue;
      EXPECT_NEAR(last[i].accuracy, last[i + 3].accuracy, 1e-6);
    }
  }
}

TEST(WeightedTraining, MetricsAreThoseOfRepeatedSamples) {
  for (const bool labelled : {true, false}) {
    Model model = model_of();
    const Metrics a = evaluate_metrics(model, weighted(labelled));
    const Metrics b = evaluate_metrics(model, repeated(labelled));
    EXPECT_EQ(a.samples, kSamples);
    if (labelled) {
      EXPECT_NEAR(a.accuracy, b.accuracy, 1e-12);
      EXPECT_NEAR(a.log_loss, b.log_loss, 1e-12);
    } else {
      EXPECT_NEAR(a.r_squared, b.r_squared, 1e-12);
      EXPECT_NEAR(a.mae, b.mae, 1e-12);
      EXPECT_NEAR(a.rmse, b.rmse, 1e-12);
    }
  }
}

TEST(WeightedTraining, OwnMetricsCountByWeight) {
  std::vector<double> measured;
  for (const Dataset& data : {weighted(false), repeated(false)}) {
    Model model = model_of();
    CustomMetric mae;
    mae.name = "mae";
    mae.values = [](const Expression& y, const Expression& t) { return abs(y - t); };
    TrainerOptions options;
    options.metrics.push_back(mae);
    Trainer trainer(model, {}, options);
    measured.push_back(trainer.evaluate(data, 5).metrics.at("mae"));
    EXPECT_NEAR(measured.back(), evaluate_metrics(model, data).mae, 1e-6);
  }
  EXPECT_NEAR(measured[0], measured[1], 1e-6);
}

TEST(WeightedTraining, SetsOfOnesChangeNothingButRounding) {
  Dataset ones = data_set(true);
  ones.set_weights(Tensor(std::vector<float>(kSamples, 1.0F)));
  std::vector<double> losses;
  for (const Dataset& data : {ones, data_set(true)}) {
    Model model = model_of();
    Trainer trainer(model);
    losses.push_back(trainer.fit(data, {.epochs = 3, .batch = 7}).epochs.back().train.loss);
  }
  EXPECT_NEAR(losses[0], losses[1], 1e-5);
}

TEST(WeightedTraining, ABatchWithoutWeightChangesNothing) {
  Dataset data = data_set(true);
  std::vector<float> none(kSamples, 0.0F);
  none[20] = 1;
  data.set_weights(Tensor(none));
  Model model = model_of();
  const std::vector<float> before = vector_of(model.predict(data));
  Trainer trainer(model, {.optimizer = SGD{.learning_rate = 1}});
  const BatchRange batches = trainer.batches(data, {.size = 6, .shuffle = false});
  EXPECT_EQ(trainer.step(*batches.begin()).loss(), 0);
  EXPECT_EQ(vector_of(model.predict(data)), before);
}

TEST(WeightedTraining, WhatDoesNotFitIsOneSentence) {
  Model model = model_of();
  Dataset data = data_set(false);
  data.set_weights(Tensor(std::vector<float>(kSamples, 0.0F)));
  EXPECT_EQ(
      message_of([&] { train(model, data); }),
      "the weights of all 24 training samples of 'data' are 0; expected at least one above 0");
  data.set_weights(Tensor(DType::f32, {kSamples, 3}));
  EXPECT_EQ(message_of([&] { train(model, data, {.loss = Loss::cosine}); }),
            "the weights of 'data' are for steps, but the loss cosine has one value for the whole "
            "output 'output' of (3)");
  data.set_weights(Tensor(DType::f32, {kSamples, 2}));
  EXPECT_EQ(message_of([&] { train(model, data); }),
            "the weights of 'data' are for 2 steps, but the output 'output' gives (3) a sample");
  Dataset labelled = data_set(true);
  labelled.set_weights(Tensor(DType::f32, {kSamples, 2}));
  EXPECT_EQ(message_of([&] { train(model, labelled); }),
            "the weights of 'data' are for 2 steps, but the output 'output' gives (3) a sample, "
            "with one label for each sample");
}

}  // namespace
}  // namespace linnet::testing
