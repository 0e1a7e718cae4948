// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/metrics.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

// What predictions are worth in detail: curves, calibration, residuals. The rules of
// <linnet/metrics.h> hold: double precision, on the host, Error for sizes that disagree and for
// NaN, safe to call from several threads at once.

/// Holds how many samples are predicted positive at every threshold: the points of the ROC curve,
/// of the precision-recall curve and of the gain and lift charts. A sample is predicted positive
/// where its score is at least the threshold. Samples count by their weights.
struct ThresholdCurve {
  std::vector<float> thresholds = {};        ///< every score that occurs, falling
  std::vector<double> true_positives = {};   ///< by threshold: positives that are predicted so
  std::vector<double> false_positives = {};  ///< by threshold: negatives predicted positive
  double positives = 0;                      ///< samples whose truth is 1
  double negatives = 0;                      ///< samples whose truth is 0

  /// Returns the share of the positives that point `i` finds: the true-positive rate, and the
  /// cumulative gain. NaN without positives.
  double recall(std::size_t i) const { return true_positives[i] / positives; }
  /// Returns the share of the negatives that are predicted positive. NaN without negatives.
  double false_positive_rate(std::size_t i) const { return false_positives[i] / negatives; }
  /// Returns the share of the positive predictions that are right.
  double precision(std::size_t i) const {
    return true_positives[i] / (true_positives[i] + false_positives[i]);
  }
  /// Returns the share of all samples that are predicted positive.
  double share(std::size_t i) const {
    return (true_positives[i] + false_positives[i]) / (positives + negatives);
  }
  /// Returns the precision divided by that of a random choice.
  double lift(std::size_t i) const { return recall(i) / share(i); }
  /// Returns the area under the ROC curve by trapezoids: roc_auc(). NaN without positives or
  /// negatives.
  double roc_area() const;
  /// Returns the limits between which the area of all samples of this kind lies with 95 % (DeLong
  /// et al., "Comparing the areas under two or more correlated receiver operating characteristic
  /// curves", 1988), within [0, 1]. A weight counts as that many samples. NaN without two positives
  /// and two negatives.
  std::pair<double, double> roc_limits() const;
  /// Returns the area under the precision-recall curve as average precision, the mean of the
  /// precision weighted by the steps of the recall, without interpolation (scikit-learn's
  /// average_precision_score). NaN without positives.
  double average_precision() const;
};
/// Returns the curve of scores (N) and truth (N) in {0, 1}.
ThresholdCurve threshold_curve(std::span<const float> scores, std::span<const float> truth,
                               std::span<const float> weights = {});

/// Says what a wrong prediction costs; at least 0 each.
struct MistakeCost {
  double false_positive = 1;  ///< of a negative that is predicted positive
  double false_negative = 1;  ///< of a positive that is predicted negative
};
/// Holds a threshold and what follows from it.
struct ThresholdChoice {
  /// Scores from here on are positive; infinite: none is.
  float threshold = std::numeric_limits<float>::infinity();
  double cost = 0;             ///< mean over the samples
  double true_positives = 0;   ///< positives that are predicted so
  double false_positives = 0;  ///< negatives that are predicted positive
  double true_negatives = 0;   ///< negatives that are predicted so
  double false_negatives = 0;  ///< positives that are predicted negative
};
/// Returns the threshold whose mistakes cost least; of equal ones the highest. Throws Error for a
/// cost that is negative or not finite, and for a curve without samples.
ThresholdChoice cheapest_threshold(const ThresholdCurve& curve, const MistakeCost& cost);

/// Holds the samples whose probability lies in one of equally wide ranges.
struct CalibrationBin {
  double low = 0;        ///< probabilities above this (the first range has 0 too)
  double high = 0;       ///< up to this
  double predicted = 0;  ///< mean probability
  double observed = 0;   ///< share of the samples whose truth is 1
  double samples = 0;    ///< weight of the samples
};
/// Says whether probabilities mean what they say: the reliability curve.
struct Calibration {
  std::vector<CalibrationBin> bins = {};  ///< those that hold samples, rising
  /// Mean of |observed - predicted|, weighted by the samples (Naeini et al., 2015), in [0, 1].
  double expected_error = kUndefined;
  double brier = kUndefined;  ///< mean of (probability - truth)^2, in [0, 1]
};
/// Returns the calibration of probabilities (N) of a truth (N) in {0, 1}, over `bins` ranges, at
/// least 1. Throws Error for probabilities outside [0, 1].
Calibration calibration(std::span<const float> probabilities, std::span<const float> truth,
                        int bins = 10, std::span<const float> weights = {});

/// Holds one of the worst predictions.
struct WorstPrediction {
  std::int64_t sample = 0;  ///< place in the data set, from 0
  double actual = 0;        ///< target
  double predicted = 0;     ///< output
};
/// Returns the `count` predictions that are farthest from their target, worst first.
std::vector<WorstPrediction> worst_predictions(std::span<const float> outputs,
                                               std::span<const float> targets, std::size_t count);

/// Holds how often residuals (target less output) occur, in equally wide ranges.
struct ResidualHistogram {
  double least = 0;                       ///< smallest residual
  double most = 0;                        ///< largest residual
  std::vector<std::int64_t> counts = {};  ///< by range, from least to most
};
/// Returns the histogram of the residuals over `bins` ranges, at least 1.
ResidualHistogram residual_histogram(std::span<const float> outputs, std::span<const float> targets,
                                     int bins = 20);

/// Holds the report on one number that is predicted.
struct ValueReport {
  std::string name = {};                    ///< of the target
  double r_squared = kUndefined;            ///< linnet::r_squared()
  double mae = kUndefined;                  ///< mean_absolute_error()
  double rmse = kUndefined;                 ///< root_mean_squared_error()
  ResidualHistogram residuals = {};         ///< residual_histogram()
  std::vector<WorstPrediction> worst = {};  ///< worst_predictions()
  std::vector<double> actual = {};          ///< targets (N)
  std::vector<double> predicted = {};       ///< outputs (N)
};
/// Holds the report on one class against all others, or on one independent label.
struct ClassReport {
  std::string name = {};         ///< of the class
  ThresholdCurve curve = {};     ///< of its probability, or of its score without probabilities
  Calibration calibration = {};  ///< of its probability; without bins where there is none
};
/// Holds what a report says of the predictions of a data set.
struct PredictionReport {
  std::int64_t samples = 0;  ///< number of samples that count
  /// Of labels: the second of two classes, or each of several; of 0/1 values each label.
  std::vector<ClassReport> classes = {};
  /// Of several classes: that of the predicted class, whose truth is whether it is right.
  Calibration predicted_class = {};
  std::vector<ValueReport> values = {};  ///< of other values
};
/// Says what prediction_report() reports.
struct PredictionReportOptions {
  std::optional<std::int32_t> ignore_index = {};  ///< label whose samples are left out
  /// Whether outputs of classes and labels are logits of probabilities (Model::answers()).
  bool probabilities = true;
  /// Names of several values a sample; empty: the target's name with a number.
  std::vector<std::string> value_names = {};
  int calibration_bins = 10;      ///< ranges of probabilities
  int residual_bins = 20;         ///< ranges of residuals
  std::size_t worst = 10;         ///< worst predictions listed
  std::size_t most_classes = 20;  ///< data of more classes have no curves of them
};
/// Returns the report on the predictions that predictions_of() returned for `data`: labels or
/// values of one a sample. Empty for targets of steps or pixels. Throws Error for predictions that
/// are NaN, and DataError where they do not fit the data.
PredictionReport prediction_report(std::span<const float> predictions, const Dataset& data,
                                   const PredictionReportOptions& options = {});

}  // namespace linnet
LINNET_API_END
