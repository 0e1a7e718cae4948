// SPDX-License-Identifier: Apache-2.0
// The normalized squared error: mse over the variance of the targets, 1 - R^2.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cmath>
#include <vector>

#include "data_sets.h"
#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

Dataset values() {
  std::vector<float> x;
  std::vector<float> y;
  for (int i = 0; i < 40; ++i) {
    x.push_back(std::sin(static_cast<float>(i)));
    y.push_back(1000 + 3 * std::cos(2 * static_cast<float>(i)));
    y.push_back(1001 + static_cast<float>(i % 5));
  }
  return data_of(records(x, {1}), records(y, {2}));
}

Model plain() {
  return Model(Network({1}, {Dense{.units = 3}, Tanh{}, Dense{.units = 2}}), {.device = "cpu"});
}

/// Returns the variance of all elements about their one mean.
double variance(const std::vector<float>& y) {
  double mean = 0;
  for (const float value : y) mean += value / static_cast<double>(y.size());
  double sum = 0;
  for (const float value : y) sum += std::pow(value - mean, 2) / static_cast<double>(y.size());
  return sum;
}

TEST(NormalizedSquaredError, IsMseOverTheVariance) {
  Model model = plain();
  const double mse = evaluate(model, values(), Loss::mse).loss;
  const double found = evaluate(model, values(), Loss::normalized_squared_error).loss;
  const double wanted = mse / variance(vector_of(first_target(values())));
  EXPECT_NEAR(found, wanted, 1e-5 * wanted);
}

TEST(NormalizedSquaredError, TrainsAsMseDoes) {
  const auto weights_after = [](Loss loss, double rate) {
    Model model = plain();
    train(model, values(),
          {.epochs = 3, .batch = 8, .optimizer = SGD{.learning_rate = rate}, .loss = loss});
    return all_weights(model);
  };
  const double scale = variance(vector_of(first_target(values())));
  const std::vector<float> found = weights_after(Loss::normalized_squared_error, 0.01 * scale);
  const std::vector<float> wanted = weights_after(Loss::mse, 0.01);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(found[i], wanted[i], 1e-4 * (1 + std::abs(wanted[i]))) << i;
  }
}

/// Targets that are all alike: they have no variance of their own.
Dataset alike() {
  return data_of(records(std::vector<float>{0.5F, -0.5F}, {1}),
                 records(std::vector<float>(4, 1000), {2}));
}

TEST(NormalizedSquaredError, HeldOutSetsTakeTheTrainingSetsVariance) {
  Model model = plain();
  Trainer trainer(model, {.loss = Loss::normalized_squared_error,
                          .optimizer = SGD{.learning_rate = 0.001}});
  const History history =
      trainer.fit(values(),
                  {.epochs = 2, .batch = 8, .validation = alike(), .test = alike(), .patience = 2});
  const double scale = variance(vector_of(first_target(values())));
  const double wanted = evaluate(model, alike(), Loss::mse).loss / scale;
  EXPECT_NEAR(history.epochs.back().validation.loss, wanted, 1e-5 * wanted);
  EXPECT_NEAR(history.epochs.back().test.loss, wanted, 1e-5 * wanted);
  EXPECT_NEAR(trainer.evaluate(alike()).loss, wanted, 1e-5 * wanted);
}

TEST(NormalizedSquaredError, TakesTheVarianceOfTheSetThatIsTrainedOn) {
  Model model = plain();
  Trainer trainer(model,
                  {.output_losses = {
                       {.output = "output", .loss = Loss::normalized_squared_error, .weight = 3}}});
  const auto expect_variance_of = [&](const Dataset& data) {
    trainer.fit(data, {.epochs = 1});
    const double wanted =
        3 * evaluate(model, alike(), Loss::mse).loss / variance(vector_of(first_target(data)));
    EXPECT_NEAR(trainer.evaluate(alike()).loss, wanted, 1e-5 * wanted);
  };
  expect_variance_of(values());
  expect_variance_of(data_of(records(std::vector<float>{1, 2}, {1}),
                             records(std::vector<float>{998, 1002, 1004, 1000}, {2})));
}

TEST(NormalizedSquaredError, SaysWhatItCannotDivideBy) {
  const auto refusal = [](const Dataset& data) {
    Model model = plain();
    return message_of([&] { evaluate(model, data, Loss::normalized_squared_error); });
  };
  const Tensor x = records(std::vector<float>{1, 2}, {1});
  EXPECT_NE(refusal(data_of(x, records(std::vector<float>(4, 7), {2}))).find("which is 0"),
            std::string::npos);
  EXPECT_NE(refusal(data_of(x, records(std::vector<std::int32_t>{0, 1}))).find("expects values"),
            std::string::npos);
  Model model = plain();
  EXPECT_NE(message_of([&] {
              train(model, alike(), {.loss = Loss::normalized_squared_error});
            }).find("which is 0"),
            std::string::npos);
  const TrainingOptions options{
      .output_losses = {{.output = "output", .loss = Loss::normalized_squared_error, .target = 1}}};
  EXPECT_NE(message_of([&] { train(model, values(), options); }).find("is one number"),
            std::string::npos);
}

}  // namespace
}  // namespace linnet::testing
