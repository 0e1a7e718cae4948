// SPDX-License-Identifier: Apache-2.0
// Measures come from logits: of large ones, float32 probabilities are 0 and 1 and many are equal.
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

constexpr std::size_t kClasses = 10;
constexpr std::size_t kSamples = 400;

/// Logits as of a network that was trained for long: some hundreds, the label's often among the
/// first ones.
struct Scores {
  std::vector<float> logits;
  std::vector<std::int32_t> labels;
};
Scores large_scores() {
  std::mt19937_64 random(3);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  Scores scores;
  for (std::size_t i = 0; i < kSamples; ++i) {
    scores.labels.push_back(static_cast<std::int32_t>(random() % kClasses));
    for (std::size_t c = 0; c < kClasses; ++c) {
      const bool label = c == static_cast<std::size_t>(scores.labels.back());
      scores.logits.push_back(static_cast<float>(1500 * uniform() - 700 + (label ? 300 : 0)));
    }
  }
  return scores;
}

/// The share of samples whose label is among the k largest; by sorting, in double.
double top_k(const Scores& scores, std::size_t k) {
  double hits = 0;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const std::span<const float> row(scores.logits.data() + i * kClasses, kClasses);
    std::vector<std::size_t> order(kClasses);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t c) { return std::pair(-row[c], c); });
    const auto place = std::ranges::find(order, static_cast<std::size_t>(scores.labels[i]));
    hits += place < order.begin() + static_cast<std::ptrdiff_t>(k) ? 1 : 0;
  }
  return hits / kSamples;
}

double mean_loss(const Scores& scores) {
  long double sum = 0;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const float* row = scores.logits.data() + i * kClasses;
    const long double largest = *std::max_element(row, row + kClasses);
    long double others = 0;
    for (std::size_t c = 0; c < kClasses; ++c) others += std::exp(row[c] - largest);
    sum += largest + std::log(others) - row[scores.labels[i]];
  }
  return static_cast<double>(sum / kSamples);
}

using Endings = std::vector<std::vector<Layer>>;

/// Gives its inputs as logits, in front of `last`.
Model passing(std::vector<Layer> last, std::size_t width = kClasses) {
  const auto units = static_cast<std::int64_t>(width);
  Network network({units}, {Dense{.units = units, .bias = false, .name = "d"}});
  for (const Layer& layer : last) network.add(layer);
  Model model(network, {.device = "cpu", .threads = 1});
  std::vector<float> unit(width * width);
  for (std::size_t i = 0; i < width; ++i) unit[i * width + i] = 1;
  set_parameter(model, "d.weight", unit);
  return model;
}

TEST(Logits, MeasuresOfLargeOnesAreThoseOfDoublePrecision) {
  const Scores scores = large_scores();
  const Dataset data = data_of(records(scores.logits, {kClasses}), records(scores.labels));
  for (std::vector<Layer> last : Endings{{}, {Softmax{}}, {LogSoftmax{}}}) {
    const std::size_t layers = last.size();
    Model model = passing(std::move(last));
    const Metrics metrics = evaluate_metrics(model, data);
    EXPECT_EQ(metrics.accuracy, top_k(scores, 1)) << layers;
    EXPECT_EQ(metrics.top5, top_k(scores, 5)) << layers;
    EXPECT_NEAR(metrics.log_loss, mean_loss(scores), 1e-9 * mean_loss(scores)) << layers;
    EXPECT_DOUBLE_EQ(metrics.perplexity, std::exp(metrics.log_loss));
    EXPECT_EQ(evaluate(model, data).accuracy, top_k(scores, 1)) << layers;
  }
  // Else the test shows nothing.
  EXPECT_GT(std::abs(top_k(scores, 5) -
                     top_k_accuracy(passing({}).predict_probabilities(data).as<float>(),
                                    scores.labels, 5)),
            0.01);
}

TEST(Logits, AccuracyTellsNearOnesApart) {
  // Half of 1e-9 is lost beside 1 / 2.
  const std::vector<float> logits{1e-9F, 2e-9F, 2e-9F, 1e-9F};
  const Dataset data = data_of(records(logits, {2}), records(std::vector<std::int32_t>{1, 1}));
  for (std::vector<Layer> last : Endings{{}, {Softmax{}}}) {
    Model model = passing(std::move(last), 2);
    EXPECT_EQ(evaluate(model, data).accuracy, 0.5);
    EXPECT_EQ(evaluate_metrics(model, data).accuracy, 0.5);
  }
}

TEST(Logits, AucRanksSaturatedAnswers) {
  // Beyond 17 a float32 sigmoid is 1, and below -104 it is 0.
  const std::vector<float> logits{20, 30, 40, 50, -110, -120, -130, -140};
  const std::vector<float> truth{0, 1, 0, 1, 1, 0, 1, 0};
  const Dataset data = data_of(records(logits, {1}), records(truth, {1}));
  for (std::vector<Layer> last : Endings{{}, {Sigmoid{}}}) {
    Model model = passing(std::move(last), 1);
    EXPECT_EQ(evaluate_metrics(model, data).auc.mean, roc_auc(logits, truth));
  }
}

TEST(Logits, AucOfASoftmaxRanksItsProbabilities) {
  // p of the first column is sigmoid(z0 - z1), whatever z0 alone is.
  const std::vector<float> logits{9, -20, 100, 60, 3, 1, 5, 6};
  const std::vector<float> truth{1, 0, 1, 0, 0, 1, 0, 1};
  const Dataset data = data_of(records(logits, {2}), records(truth, {2}));
  Model model = passing({Softmax{}}, 2);
  const LabelAuc auc = evaluate_metrics(model, data).auc;
  EXPECT_EQ(auc.labels[0],
            roc_auc(std::vector<float>{29, 40, 2, -1}, std::vector<float>{1, 1, 0, 0}));
  EXPECT_EQ(auc.labels[1],
            roc_auc(std::vector<float>{-29, -40, -2, 1}, std::vector<float>{0, 0, 1, 1}));
}

TEST(Logits, CrossEntropySaysWhatItCannotMeasure) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<std::int32_t> labels{0, 1};
  EXPECT_EQ(message_of([&] {
              cross_entropy(std::vector<float>{1, 2, 3, inf}, labels);
            }),
            "the largest score of sample 1 is not finite");
  EXPECT_EQ(cross_entropy(std::vector<float>{1, -inf, -inf, 5}, labels), 0);
  EXPECT_NEAR(softmax_probability(std::vector<float>{1000, 1000, 0}, 1), 0.5, 1e-12);
}

}  // namespace
}  // namespace linnet::testing
