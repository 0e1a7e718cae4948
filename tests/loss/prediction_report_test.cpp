// SPDX-License-Identifier: Apache-2.0
// Curves, calibration and residuals, against scikit-learn (tests/fixtures/make_report_fixtures.py).
#include <gtest/gtest.h>
#include <linnet/prediction_report.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "message_of.h"

namespace linnet::testing {
namespace {

const nlohmann::json& fixture() {
  static const nlohmann::json json =
      nlohmann::json::parse(std::ifstream(LINNET_TORCH_FIXTURES "/reports.json"));
  return json;
}

std::vector<float> floats(const nlohmann::json& json) { return json.get<std::vector<float>>(); }

void expect_near(const nlohmann::json& wanted, const std::vector<double>& got,
                 const std::string& what) {
  ASSERT_EQ(wanted.size(), got.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(wanted[i].get<double>(), got[i], 1e-6) << what << " " << i;
  }
}

class CurveOf : public ::testing::TestWithParam<const char*> {};

TEST_P(CurveOf, IsThatOfScikitLearn) {
  const nlohmann::json& wanted = fixture()[GetParam()];
  const ThresholdCurve curve =
      threshold_curve(floats(wanted["scores"]), floats(wanted["truth"]), floats(wanted["weights"]));
  std::vector<double> fpr;
  std::vector<double> tpr;
  std::vector<double> precision;
  for (std::size_t i = 0; i < curve.thresholds.size(); ++i) {
    fpr.push_back(curve.false_positive_rate(i));
    tpr.push_back(curve.recall(i));
    precision.push_back(curve.precision(i));
  }
  expect_near(wanted["fpr"], fpr, "fpr");
  expect_near(wanted["tpr"], tpr, "tpr");
  expect_near(wanted["thresholds"], {curve.thresholds.begin(), curve.thresholds.end()}, "at");
  expect_near(wanted["recall"], tpr, "recall");
  expect_near(wanted["precision"], precision, "precision");
  EXPECT_NEAR(curve.roc_area(), wanted["roc_auc"].get<double>(), 1e-12);
  EXPECT_NEAR(curve.average_precision(), wanted["average_precision"].get<double>(), 1e-12);
  EXPECT_NEAR(curve.lift(curve.thresholds.size() - 1), 1, 1e-12);
}
INSTANTIATE_TEST_SUITE_P(Predictions, CurveOf, ::testing::Values("binary", "weighted"));

TEST(PredictionReport, LimitsOfTheAreaAreDeLongs) {
  // By the definition, a loop over all pairs in NumPy.
  const std::vector<float> scores{.1F, .2F, .2F, .3F, .35F, .4F, .5F, .5F, .6F, .7F, .8F, .9F};
  const std::vector<float> truth{0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1};
  const auto [lower, upper] = threshold_curve(scores, truth).roc_limits();
  EXPECT_NEAR(lower, 0.41424359458896054, 1e-9);
  EXPECT_NEAR(upper, 1, 1e-9);
  const std::vector<float> apart{0, 0, 1, 1};
  EXPECT_EQ(threshold_curve(apart, apart).roc_limits(), std::pair(1.0, 1.0));
  const std::vector<float> few{0, 0, 1};
  EXPECT_TRUE(std::isnan(threshold_curve(few, few).roc_limits().first));
}

TEST(PredictionReport, CalibrationIsThatOfScikitLearn) {
  const nlohmann::json& wanted = fixture()["binary"];
  const Calibration of = calibration(floats(wanted["scores"]), floats(wanted["truth"]));
  std::vector<double> observed;
  std::vector<double> predicted;
  for (const CalibrationBin& bin : of.bins) {
    observed.push_back(bin.observed);
    predicted.push_back(bin.predicted);
    EXPECT_LE(bin.predicted, bin.high + 1e-6);
    EXPECT_GE(bin.predicted, bin.low - 1e-6);
  }
  expect_near(wanted["observed"], observed, "observed");
  expect_near(wanted["predicted"], predicted, "predicted");
  EXPECT_NEAR(of.expected_error, wanted["expected_error"].get<double>(), 1e-7);
  EXPECT_NEAR(of.brier, wanted["brier"].get<double>(), 1e-7);
}

TEST(PredictionReport, TheThresholdIsTheCheapest) {
  const std::vector<float> scores{.9F, .8F, .7F, .6F, .2F};
  const ThresholdCurve curve = threshold_curve(scores, std::vector<float>{1, 0, 1, 0, 0});
  const ThresholdChoice even = cheapest_threshold(curve, {1, 1});
  EXPECT_EQ(even.threshold, .9F);  // one mistake, as at 0.7: the higher one counts
  EXPECT_DOUBLE_EQ(even.cost, 0.2);
  const ThresholdChoice missed = cheapest_threshold(curve, {1, 5});
  EXPECT_EQ(missed.threshold, .7F);
  EXPECT_DOUBLE_EQ(missed.cost, 0.2);
  EXPECT_EQ(missed.true_positives, 2);
  EXPECT_EQ(missed.false_positives, 1);
  EXPECT_EQ(missed.true_negatives, 2);
  EXPECT_EQ(missed.false_negatives, 0);
  const ThresholdCurve wrong = threshold_curve(scores, std::vector<float>{0, 0, 0, 0, 1});
  const ThresholdChoice never = cheapest_threshold(wrong, {1, 1});
  EXPECT_EQ(never.threshold, std::numeric_limits<float>::infinity());
  EXPECT_EQ(never.false_negatives, 1);
  EXPECT_EQ(message_of([&] {
              cheapest_threshold(curve, {-1, 1});
            }),
            "the costs of mistakes are finite and at least 0; got -1 for a false positive, 1 for a "
            "false negative");
}

TEST(PredictionReport, SeveralClassesEachAgainstTheOthers) {
  const nlohmann::json& wanted = fixture()["several"];
  const auto labels = wanted["labels"].get<std::vector<std::int32_t>>();
  const auto n = static_cast<std::int64_t>(labels.size());
  const Dataset data({{.name = "x", .data = Tensor(std::vector<float>(labels.size()), {n, 1})}},
                     {{.name = "y", .data = Tensor(std::vector<std::int32_t>(labels), {n})}},
                     {.classes = {"a", "b", "c"}});
  const PredictionReport report = prediction_report(floats(wanted["logits"]), data);
  ASSERT_EQ(report.classes.size(), 3U);
  EXPECT_EQ(report.classes[2].name, "c");
  for (std::size_t c = 0; c < 3; ++c) {
    const ClassReport& of = report.classes[c];
    EXPECT_NEAR(of.curve.roc_area(), wanted["roc_auc"][c].get<double>(), 1e-9);
    EXPECT_NEAR(of.curve.average_precision(), wanted["average_precision"][c].get<double>(), 1e-9);
    EXPECT_NEAR(of.calibration.brier, wanted["brier"][c].get<double>(), 1e-6);
  }
  EXPECT_NEAR(report.predicted_class.expected_error, wanted["expected_error"].get<double>(), 1e-6);
}

TEST(PredictionReport, TheSecondOfTwoClassesAndWithoutTheIgnored) {
  const Dataset data({{.name = "x", .data = Tensor(std::vector<float>(4), {4, 1})}},
                     {{.name = "y", .data = Tensor(std::vector<std::int32_t>{0, 1, 1, -1}, {4})}},
                     {.classes = {"no", "yes"}});
  PredictionReportOptions options;
  options.ignore_index = -1;
  const std::vector<float> logits{0, -2, 0, 1, 0, 3, 0, 9};
  const PredictionReport report = prediction_report(logits, data, options);
  EXPECT_EQ(report.samples, 3);
  ASSERT_EQ(report.classes.size(), 1U);
  EXPECT_EQ(report.classes[0].name, "yes");
  EXPECT_EQ(report.classes[0].curve.positives, 2);
  EXPECT_NEAR(report.classes[0].curve.thresholds[0], 1 / (1 + std::exp(-3)), 1e-6);
  EXPECT_EQ(report.classes[0].curve.roc_area(), 1);
  EXPECT_TRUE(report.predicted_class.bins.empty());
  options.probabilities = false;
  const PredictionReport scores = prediction_report(logits, data, options);
  EXPECT_EQ(scores.classes[0].curve.thresholds[0], 3);
  EXPECT_TRUE(scores.classes[0].calibration.bins.empty());
}

TEST(PredictionReport, Values) {
  const nlohmann::json& wanted = fixture()["values"];
  const std::vector<float> outputs = floats(wanted["outputs"]);
  const std::vector<float> targets = floats(wanted["targets"]);
  const auto n = static_cast<std::int64_t>(outputs.size());
  const Dataset data({{.name = "x", .data = Tensor(std::vector<float>(outputs), {n, 1})}},
                     {{.name = "height", .data = Tensor(std::vector<float>(targets), {n, 1})}});
  PredictionReportOptions options;
  options.residual_bins = 7;
  options.worst = 5;
  const PredictionReport report = prediction_report(outputs, data, options);
  ASSERT_EQ(report.values.size(), 1U);
  const ValueReport& of = report.values[0];
  EXPECT_EQ(of.name, "height");
  EXPECT_NEAR(of.r_squared, wanted["r_squared"].get<double>(), 1e-6);
  EXPECT_NEAR(of.mae, wanted["mae"].get<double>(), 1e-6);
  EXPECT_NEAR(of.rmse, wanted["rmse"].get<double>(), 1e-6);
  EXPECT_EQ(of.residuals.counts, wanted["counts"].get<std::vector<std::int64_t>>());
  EXPECT_NEAR(of.residuals.least, wanted["least"].get<double>(), 1e-6);
  EXPECT_NEAR(of.residuals.most, wanted["most"].get<double>(), 1e-6);
  std::vector<std::int64_t> worst;
  for (const WorstPrediction& one : of.worst) worst.push_back(one.sample);
  EXPECT_EQ(worst, wanted["worst"].get<std::vector<std::int64_t>>());
  EXPECT_EQ(of.worst[0].actual, targets[static_cast<std::size_t>(worst[0])]);
  EXPECT_EQ(of.actual, std::vector<double>(targets.begin(), targets.end()));
}

TEST(PredictionReport, SeveralValuesHaveNames) {
  const Dataset data({{.name = "x", .data = Tensor(std::vector<float>(2), {2, 1})}},
                     {{.name = "t", .data = Tensor(std::vector<float>{1, 20, 3, 40}, {2, 2})}});
  PredictionReportOptions options;
  const std::vector<float> outputs{1, 20, 2, 44};
  EXPECT_EQ(prediction_report(outputs, data, options).values[1].name, "t 1");
  options.value_names = {"low", "high"};
  const PredictionReport report = prediction_report(outputs, data, options);
  ASSERT_EQ(report.values.size(), 2U);
  EXPECT_EQ(report.values[1].name, "high");
  EXPECT_EQ(report.values[0].mae, 0.5);
  EXPECT_EQ(report.values[1].actual, (std::vector<double>{20, 40}));
}

TEST(PredictionReport, BadInputIsOneClearSentence) {
  const std::vector<float> one{0.5F};
  const std::vector<float> two{0, 1};
  EXPECT_EQ(message_of([&] { threshold_curve(one, two); }),
            "expected one score for each truth; got 1 and 2");
  EXPECT_EQ(message_of([&] {
              threshold_curve(two, std::vector<float>{0, 2});
            }),
            "expected a truth of 0 or 1; got 2 for sample 1");
  EXPECT_EQ(message_of([&] {
              threshold_curve(two, two, std::vector<float>{0, 0});
            }),
            "all 2 weights are 0");
  EXPECT_EQ(message_of([&] {
              calibration(std::vector<float>{0, 1.5F}, two);
            }),
            "expected probabilities in [0, 1]; got 1.5 for sample 1");
  EXPECT_EQ(message_of([&] { calibration(two, two, 0); }),
            "expected at least 1 range of probabilities; got 0");
  EXPECT_EQ(message_of([&] { residual_histogram(one, two); }),
            "expected one output for each target; got 1 and 2");
  EXPECT_TRUE(std::isnan(threshold_curve(two, std::vector<float>{1, 1}).roc_area()));
}

}  // namespace
}  // namespace linnet::testing
