// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

/// Points of the plane in [-1, 1).
std::vector<float> points(std::int64_t count) {
  std::mt19937_64 random(7);
  std::vector<float> xy;
  for (std::int64_t i = 0; i < 2 * count; ++i) {
    xy.push_back(static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-52 - 1));
  }
  return xy;
}

Network small_network(std::int64_t outputs) {
  return Network({2}, {Dense{.units = 16}, Tanh{}, Dense{.units = outputs}});
}

/// 203 samples in batches of 16: the last one is smaller.
TrainingOptions training(Loss loss, LossOptions options = {}) {
  return {.epochs = 30,
          .batch = 16,
          .optimizer = Adam{.learning_rate = 1e-2},
          .loss = loss,
          .loss_options = std::move(options)};
}
constexpr std::int64_t kSamples = 203;

TEST(LossTraining, LearnsSoftLabels) {
  const std::vector<float> xy = points(kSamples);
  std::vector<float> shares;
  double entropy = 0;  // what no network gets below
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const float p = xy[2 * i] > 0 ? 0.9F : 0.2F;
    shares.insert(shares.end(), {p, 1 - p});
    entropy -= (p * std::log(p) + (1 - p) * std::log(1 - p)) / static_cast<double>(kSamples);
  }
  const Dataset data = data_of(records(xy, {2}), records(shares, {2}));
  Model model(small_network(2));
  const History history = train(model, data, training(Loss::cross_entropy));
  EXPECT_LT(history.epochs.back().train.loss, entropy + 0.05);
  EXPECT_GT(history.epochs.back().train.loss, entropy);
  EXPECT_TRUE(std::isnan(history.epochs.back().train.accuracy));
  const std::vector<float> p = vector_of(model.predict_probabilities(data));
  EXPECT_LT(mean_absolute_error(p, shares), 0.1);
}

TEST(LossTraining, LearnsSeveralLabelsAndReportsTheirAuc) {
  const std::vector<float> xy = points(kSamples);
  std::vector<float> answers;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const float x = xy[2 * i];
    const float y = xy[2 * i + 1];
    answers.insert(answers.end(),
                   {x > 0.7F ? 1.0F : 0.0F, x * x + y * y < 0.5F ? 1.0F : 0.0F, 0.0F});
  }
  const Dataset data = data_of(records(xy, {2}), records(answers, {3}));
  Model model(small_network(3));
  EXPECT_NEAR(evaluate_metrics(model, data).auc.labels[1], 0.5, 0.35);
  train(model, data, training(Loss::binary_cross_entropy, {.positive_weights = {5, 1, 1}}));
  const Metrics metrics = evaluate_metrics(model, data);
  EXPECT_EQ(metrics.kind, Metrics::Kind::binary);
  EXPECT_EQ(metrics.samples, kSamples);
  EXPECT_GT(metrics.auc.labels[0], 0.99);
  EXPECT_GT(metrics.auc.labels[1], 0.97);
  EXPECT_TRUE(std::isnan(metrics.auc.labels[2]));
  EXPECT_DOUBLE_EQ(metrics.auc.mean, (metrics.auc.labels[0] + metrics.auc.labels[1]) / 2);
}

/// Labels 0 and 1, and `unknown` for what nobody has labelled: a third, whose points are shifted.
Dataset partly_labelled(float shift, std::int32_t unknown = 2) {
  std::vector<float> xy = points(kSamples);
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    labels.push_back(i % 3 == 2 ? unknown : xy[2 * i] > xy[2 * i + 1] ? 1 : 0);
    if (labels.back() == unknown) xy[2 * i] += shift;
  }
  Dataset data = data_of(records(xy, {2}), records(labels));
  data.set_classes({"0", "1", "2"});
  return data;
}

TEST(LossTraining, TheIgnoredLabelNeedNotBeAClass) {
  const Dataset data = partly_labelled(0, -100);
  for (const Loss loss : {Loss::cross_entropy, Loss::focal, Loss::hinge}) {
    std::vector<std::vector<float>> predictions;
    for (const std::int32_t unknown : {2, -100}) {
      Model model(small_network(3));
      train(model, partly_labelled(0, unknown), training(loss, {.ignore_index = unknown}));
      predictions.push_back(vector_of(model.predict(data)));
      if (unknown != -100) continue;
      const Metrics metrics = evaluate_metrics(model, data, {.ignore_index = -100});
      EXPECT_EQ(metrics.samples, kSamples - kSamples / 3);
      EXPECT_GT(metrics.accuracy, 0.9);
      EXPECT_THROW(evaluate_metrics(model, data), Error);
    }
    EXPECT_EQ(predictions[0], predictions[1]);
  }
  EXPECT_EQ(balanced_class_weights(data, -100).size(), 3U);
  EXPECT_EQ(balanced_class_weights(data, -100)[2], 0);
  EXPECT_THROW(balanced_class_weights(data), Error);
}

TEST(LossTraining, IgnoredSamplesLeaveNoTrace) {
  const LossOptions options{.ignore_index = 2};
  std::vector<std::vector<float>> predictions;
  const Dataset data = partly_labelled(0);
  for (float shift : {0.0F, 0.5F}) {
    Model model(small_network(3));
    train(model, partly_labelled(shift), training(Loss::cross_entropy, options));
    predictions.push_back(vector_of(model.predict(data)));
    const Metrics metrics = evaluate_metrics(model, data, {.ignore_index = 2});
    EXPECT_EQ(metrics.samples, kSamples - kSamples / 3);
    EXPECT_GT(metrics.accuracy, 0.95);
    EXPECT_EQ(metrics.confusion[8], 0);
    EXPECT_TRUE(std::isnan(metrics.top5));
    const Evaluation all = evaluate(model, data, Loss::cross_entropy, kSamples, options);
    EXPECT_NEAR(all.loss, metrics.log_loss, 1e-5);
  }
  EXPECT_EQ(predictions[0], predictions[1]);
}

TEST(LossTraining, WeightsOfAClassMoveTheDecision) {
  const std::vector<float> same(2 * 40, 1.0F);  // nothing to tell the samples apart by
  std::vector<std::int32_t> labels(40, 0);
  std::fill(labels.begin() + 30, labels.end(), 1);
  const Dataset data = data_of(records(same, {2}), records(labels));
  const auto share_of_1 = [&](LossOptions options) {
    Model model(small_network(2));
    TrainingOptions how = training(Loss::cross_entropy, std::move(options));
    how.batch = 40;
    how.epochs = 300;
    train(model, data, how);
    return vector_of(model.predict_probabilities(data))[1];
  };
  EXPECT_NEAR(share_of_1({}), 0.25, 0.01);
  EXPECT_NEAR(share_of_1({.class_weights = balanced_class_weights(data)}), 0.5, 0.01);
}

/// All numbers of matrices.
std::vector<float> weights_of(const Model& model) {
  std::vector<float> all;
  for (const std::string& name : model.parameter_names()) {
    if (model.parameter_shape(name).rank() < 2) continue;
    const std::vector<float> values = parameter(model, name);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST(LossTraining, PenaltiesAreReportedWithTheTrainingLossAlone) {
  const Dataset data = partly_labelled(0);
  Model model(small_network(3));
  TrainingOptions options = training(Loss::automatic, {.l1 = 0.01, .l2 = 0.02});
  options.optimizer = SGD{.learning_rate = 0};  // the weights stay what they are
  options.epochs = 1;
  const EpochReport report = train(model, data, options, &data).epochs[0];
  double penalty = 0;
  for (const float w : weights_of(model)) penalty += 0.01 * std::abs(w) + 0.02 * w * w;
  EXPECT_GT(penalty, 0.1);
  EXPECT_NEAR(report.train.loss - report.test.loss, penalty, 1e-5);
}

TEST(LossTraining, PenaltiesMakeWeightsSmaller) {
  const Dataset data = partly_labelled(0);
  const auto largest = [&](LossOptions options) {
    Model model(small_network(3));
    train(model, data, training(Loss::automatic, std::move(options)));
    float most = 0;
    for (const float w : weights_of(model)) most = std::max(most, std::abs(w));
    return most;
  };
  EXPECT_LT(largest({.l2 = 0.1}), largest({}) / 2);
}

TEST(LossTraining, BadTargetsAreOneClearSentence) {
  const std::vector<float> xy = points(3);
  const std::vector<float> values{0, 1, 0, 1.5F, 0, 0};
  const Dataset data = data_of(records(xy, {2}), records(values, {2}));
  Model model(small_network(2));
  for (const auto& [loss, words] : std::vector<std::pair<Loss, std::string>>{
           {Loss::cross_entropy, "cross-entropy expects labels or values"},
           {Loss::binary_cross_entropy, "binary cross-entropy expects values"},
           {Loss::kl_divergence, "the KL divergence expects values"},
           {Loss::focal, "the focal loss expects labels or values"}}) {
    EXPECT_EQ(message_of([&] { train(model, data, training(loss)); }),
              words +
                  " in [0, 1], but the data set 'data' has the value 1.5: row 1, column 1 of the "
                  "targets of 'data' (counted from 0)");
  }
}

TEST(LossTraining, MetricsOfValues) {
  const std::vector<float> xy = points(kSamples);
  std::vector<float> sums;
  for (std::int64_t i = 0; i < kSamples; ++i) sums.push_back(xy[2 * i] + xy[2 * i + 1]);
  const Dataset data = data_of(records(xy, {2}), records(sums, {1}));
  Model model(small_network(1));
  train(model, data, training(Loss::huber));
  const Metrics metrics = evaluate_metrics(model, data);
  EXPECT_EQ(metrics.kind, Metrics::Kind::values);
  EXPECT_GT(metrics.r_squared, 0.98);
  EXPECT_LE(metrics.mae, metrics.rmse);
  EXPECT_LT(metrics.rmse, 0.15);
}

}  // namespace
}  // namespace linnet::testing
