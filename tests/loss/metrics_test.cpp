// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/metrics.h>

#include <cmath>

#include "message_of.h"

namespace linnet::testing {
namespace {

// The numbers are NumPy's, by the definitions (AUC: over all pairs of a positive and a negative).
const std::vector<float> kScores{1, -2, 0.5F, 0, 3, -1, 2, 2, -1.5F, -0.5F, 0.25F, 1};
const std::vector<std::int32_t> kLabels{0, 2, 1, 0};

TEST(Metrics, AccuracyCountsTheFirstOfEqualScores) {
  EXPECT_EQ(accuracy(kScores, kLabels), 0.25);  // row 2 has two of 2: class 0 counts, not 1
  EXPECT_EQ(top_k_accuracy(kScores, kLabels, 2), 0.5);
  EXPECT_EQ(top_k_accuracy(kScores, kLabels, 3), 1);
}

TEST(Metrics, ConfusionAndWhatFollowsFromIt) {
  const std::vector<std::int64_t> counts = confusion_matrix(kScores, kLabels);
  EXPECT_EQ(counts, (std::vector<std::int64_t>{1, 0, 1, 1, 0, 0, 0, 1, 0}));
  const ClassScores all = class_scores(counts);
  EXPECT_EQ(all.classes[0].precision, 0.5);
  EXPECT_EQ(all.classes[0].recall, 0.5);
  EXPECT_EQ(all.classes[0].f1, 0.5);
  EXPECT_EQ(all.classes[0].samples, 2);
  EXPECT_EQ(all.classes[1].f1, 0);
  EXPECT_DOUBLE_EQ(all.macro.f1, 0.5 / 3);
  EXPECT_EQ(all.micro.precision, 0.25);
  EXPECT_EQ(all.micro.f1, 0.25);
}

TEST(Metrics, AClassThatDoesNotOccurIsNotInTheMacroMean) {
  // Class 0: 3 of 4 there found, 3 of 3 predicted right; class 1: 1 of 1, 1 of 2; class 2: none.
  const ClassScores all = class_scores(std::vector<std::int64_t>{3, 1, 0, 0, 1, 0, 0, 0, 0});
  EXPECT_DOUBLE_EQ(all.macro.precision, (1 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(all.macro.recall, (0.75 + 1) / 2);
  EXPECT_DOUBLE_EQ(all.classes[0].f1, 6.0 / 7);
  EXPECT_DOUBLE_EQ(all.macro.f1, (6.0 / 7 + 2.0 / 3) / 2);
  EXPECT_EQ(all.micro.samples, 5);
}

TEST(Metrics, LogLossAndPerplexity) {
  const std::vector<float> p{0.5F, 0.5F, 0.25F, 0.75F};
  const std::vector<std::int32_t> labels{0, 0};
  EXPECT_DOUBLE_EQ(log_loss(p, labels), (std::log(2.0) + std::log(4.0)) / 2);
  EXPECT_DOUBLE_EQ(perplexity(p, labels), std::sqrt(8.0));
  const std::vector<float> sure{0, 1};
  EXPECT_DOUBLE_EQ(log_loss(sure, std::vector<std::int32_t>{0}), -std::log(1e-15));
}

TEST(Metrics, RocAucByMidRanks) {
  const std::vector<float> truth{0, 0, 1, 1};
  EXPECT_EQ(roc_auc(std::vector<float>{0.1F, 0.4F, 0.35F, 0.8F}, truth), 0.75);
  EXPECT_EQ(roc_auc(std::vector<float>{0, 0, 0, 0}, truth), 0.5);
  EXPECT_EQ(roc_auc(std::vector<float>{1, 2, 2, 3}, truth), 0.875);
  EXPECT_EQ(roc_auc(std::vector<float>{3, 4, 1, 2}, truth), 0);
  const std::vector<float> answers{1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0};
  const LabelAuc auc = roc_auc_by_label(kScores, answers, 3);
  EXPECT_EQ(auc.labels, (std::vector<double>{0.25, 0.75, 0.25}));
  EXPECT_DOUBLE_EQ(auc.mean, 1.25 / 3);
}

TEST(Metrics, ALabelWithoutBothClassesIsLeftOut) {
  const std::vector<float> scores{1, 1, 2, 2, 3, 3};
  const LabelAuc auc = roc_auc_by_label(scores, std::vector<float>{0, 0, 0, 1, 0, 1}, 2);
  EXPECT_TRUE(std::isnan(auc.labels[0]));
  EXPECT_EQ(auc.mean, 1);
  const LabelAuc none = roc_auc_by_label(scores, std::vector<float>{0, 1, 0, 1, 0, 1}, 2);
  EXPECT_TRUE(std::isnan(none.mean));
}

TEST(Metrics, Regression) {
  const std::vector<float> values{0, -1, 2, 1, 1, 1, -2, 0.5F, 0, 0, 3, 1};
  EXPECT_NEAR(r_squared(kScores, values, 3), -2.3004218561671355, 1e-12);
  EXPECT_NEAR(mean_absolute_error(kScores, values), 1.5625, 1e-12);
  EXPECT_NEAR(root_mean_squared_error(kScores, values), 1.8610592861772746, 1e-12);
  EXPECT_EQ(r_squared(values, values, 3), 1);
  // The first column's target is constant.
  EXPECT_EQ(r_squared(std::vector<float>{9, 1, 9, 2}, std::vector<float>{5, 1, 5, 2}, 2), 1);
  EXPECT_TRUE(std::isnan(r_squared(std::vector<float>{1}, std::vector<float>{2})));
}

/// The numbers are scikit-learn's (1.7), with sample_weight.
TEST(Metrics, SamplesCountByTheirWeights) {
  const std::vector<float> p{.7F, .2F, .1F, .1F, .5F,  .4F,  .3F, .3F,
                             .4F, .2F, .6F, .2F, .04F, .06F, .9F};
  const std::vector<std::int32_t> labels{0, 2, 2, 1, 1};
  const std::vector<float> w{1, .5F, 2, 0, 3};
  EXPECT_NEAR(accuracy(p, labels, w), 0.46153846153846156, 1e-12);
  EXPECT_NEAR(top_k_accuracy(p, labels, 2, w), 1, 1e-12);
  EXPECT_NEAR(log_loss(p, labels, w), 1.7057898344468045, 1e-6);
  EXPECT_NEAR(perplexity(p, labels, w), std::exp(1.7057898344468045), 1e-5);
  std::vector<float> logits;
  for (const float each : p) logits.push_back(std::log(each) + 3);
  EXPECT_NEAR(cross_entropy(logits, labels, w), 1.7057898344468045, 1e-6);
  const std::vector<float> scores{.1F, .4F, .35F, .8F, .4F, .9F};
  const std::vector<float> truth{0, 0, 1, 1, 1, 0};
  const std::vector<float> v{1, 2, .5F, 3, 1, .25F};
  EXPECT_NEAR(roc_auc(scores, truth, v), 0.7863247863247863, 1e-12);
  const std::vector<float> y{1, 2, 0, -1, 3, .5F, 2, 2};
  const std::vector<float> t{.5F, 2.5F, 0, 0, 2, 1, 2.5F, 1};
  const std::vector<float> u{1, .5F, 2, 3};
  EXPECT_NEAR(mean_absolute_error(y, t, u), 0.6923076923076923, 1e-12);
  EXPECT_NEAR(root_mean_squared_error(y, t, u), 0.7467879938056768, 1e-12);
  EXPECT_NEAR(r_squared(y, t, 2, u), -0.12804232804232812, 1e-12);
  EXPECT_EQ(message_of([&] { accuracy(p, labels, std::vector<float>(5, 0.0F)); }),
            "all 5 weights are 0");
  EXPECT_EQ(message_of([&] {
              accuracy(p, labels, std::vector<float>{1, 2, -1, 1, 1});
            }),
            "the weight of sample 2 is -1");
  EXPECT_EQ(message_of([&] {
              accuracy(p, labels, std::vector<float>{1, 2});
            }),
            "expected a weight for each sample; got 2 for 5");
}

TEST(Metrics, BadInputIsOneClearSentence) {
  const float nan = std::nanf("");
  const std::vector<std::int32_t> two{0, 1};
  EXPECT_EQ(message_of([&] {
              accuracy(std::vector<float>{1, 2, 3, nan}, two);
            }),
            "score 1 of sample 1 is NaN");
  EXPECT_EQ(message_of([&] {
              accuracy(std::vector<float>{1, 2, 3}, two);
            }),
            "expected equally many scores for each sample; got 3 scores, 2 labels");
  EXPECT_EQ(message_of([&] { accuracy({}, {}); }),
            "expected equally many scores for each sample; got 0 scores, 0 labels");
  EXPECT_EQ(message_of([&] {
              accuracy(std::vector<float>{1, 2}, two);
            }),
            "label 1 of sample 1 is outside [0, 1)");
  EXPECT_EQ(message_of([&] { top_k_accuracy(kScores, kLabels, 0); }),
            "expected a k of at least 1; got 0");
  EXPECT_EQ(message_of([&] {
              roc_auc(std::vector<float>{1, 2}, std::vector<float>{0, 2});
            }),
            "expected a truth of 0 or 1; got 2 for sample 1");
  EXPECT_EQ(message_of([&] {
              r_squared(std::vector<float>{1, 2}, std::vector<float>{0, 2, 3});
            }),
            "expected one output for each target, 1 a sample; got 2 and 3");
  EXPECT_EQ(message_of([&] {
              class_scores(std::vector<std::int64_t>{1, 2, 3});
            }),
            "expected a confusion matrix (C, C); got 3 counts");
}

}  // namespace
}  // namespace linnet::testing
