// SPDX-License-Identifier: Apache-2.0
#include <linnet/prediction_report.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/percentile.h"

namespace linnet {
namespace {

/// Throws as the functions of metrics do; `what`: of which there is one a sample.
void require_samples(std::span<const float> values, std::span<const float> truth,
                     std::span<const float> weights, std::string_view what) {
  require(!values.empty() && values.size() == truth.size(),
          "expected one {} for each truth; got {} and {}", what, values.size(), truth.size());
  require(weights.empty() || weights.size() == values.size(),
          "expected a weight for each sample; got {} for {}", weights.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    require(!std::isnan(values[i]), "{} of sample {} is NaN", what, i);
    require(truth[i] == 0 || truth[i] == 1, "expected a truth of 0 or 1; got {} for sample {}",
            truth[i], i);
    require(weights.empty() || (weights[i] >= 0 && std::isfinite(weights[i])),
            "the weight of sample {} is {}", i, weights.empty() ? 0 : weights[i]);
  }
}

}  // namespace

ThresholdCurve threshold_curve(std::span<const float> scores, std::span<const float> truth,
                               std::span<const float> weights) {
  require_samples(scores, truth, weights, "score");
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return scores[i]; });
  ThresholdCurve curve;
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::size_t i = order[at];
    const double weight = weights.empty() ? 1 : static_cast<double>(weights[i]);
    (truth[i] == 1 ? curve.positives : curve.negatives) += weight;
    const bool last = at + 1 == order.size() || scores[order[at + 1]] != scores[i];
    if (!last) continue;
    // A point that no sample of weight has moved would divide 0 by 0.
    if (curve.positives + curve.negatives == 0) continue;
    curve.thresholds.push_back(scores[i]);
    curve.true_positives.push_back(curve.positives);
    curve.false_positives.push_back(curve.negatives);
  }
  require(!curve.thresholds.empty(), "all {} weights are 0", weights.size());
  return curve;
}

double ThresholdCurve::roc_area() const {
  if (positives == 0 || negatives == 0) return kUndefined;
  double area = 0;
  double true_before = 0;
  double false_before = 0;
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    area += (false_positives[i] - false_before) * (true_positives[i] + true_before) / 2;
    true_before = true_positives[i];
    false_before = false_positives[i];
  }
  return area / (positives * negatives);
}

std::pair<double, double> ThresholdCurve::roc_limits() const {
  if (positives < 2 || negatives < 2) return {kUndefined, kUndefined};
  const double area = roc_area();
  // Variances of the share of negatives below a positive, and of positives above a negative.
  double of_positives = 0;
  double of_negatives = 0;
  double true_before = 0;
  double false_before = 0;
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    const double hits = true_positives[i] - true_before;
    const double alarms = false_positives[i] - false_before;
    const double below = 1 - (false_before + alarms / 2) / negatives - area;
    const double above = (true_before + hits / 2) / positives - area;
    of_positives += hits * below * below;
    of_negatives += alarms * above * above;
    true_before = true_positives[i];
    false_before = false_positives[i];
  }
  const double variance =
      of_positives / (positives - 1) / positives + of_negatives / (negatives - 1) / negatives;
  const double half = kNormal95 * std::sqrt(variance);
  return {std::max(area - half, 0.0), std::min(area + half, 1.0)};
}

double ThresholdCurve::average_precision() const {
  if (positives == 0) return kUndefined;
  double sum = 0;
  double before = 0;
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    sum += (true_positives[i] - before) * precision(i);
    before = true_positives[i];
  }
  return sum / positives;
}

ThresholdChoice cheapest_threshold(const ThresholdCurve& curve, const MistakeCost& cost) {
  const auto valid = [](double of) { return of >= 0 && std::isfinite(of); };
  require(valid(cost.false_positive) && valid(cost.false_negative),
          "the costs of mistakes are finite and at least 0; got {} for a false positive, {} for a "
          "false negative",
          cost.false_positive, cost.false_negative);
  const double samples = curve.positives + curve.negatives;
  require(samples > 0, "the threshold curve has no samples");
  ThresholdChoice best{.cost = cost.false_negative * curve.positives / samples,
                       .true_negatives = curve.negatives,
                       .false_negatives = curve.positives};
  for (std::size_t i = 0; i < curve.thresholds.size(); ++i) {
    const double missed = curve.positives - curve.true_positives[i];
    const double mean =
        (cost.false_positive * curve.false_positives[i] + cost.false_negative * missed) / samples;
    if (mean >= best.cost) continue;
    best = {.threshold = curve.thresholds[i],
            .cost = mean,
            .true_positives = curve.true_positives[i],
            .false_positives = curve.false_positives[i],
            .true_negatives = curve.negatives - curve.false_positives[i],
            .false_negatives = missed};
  }
  return best;
}

Calibration calibration(std::span<const float> probabilities, std::span<const float> truth,
                        int bins, std::span<const float> weights) {
  require(bins >= 1, "expected at least 1 range of probabilities; got {}", bins);
  require_samples(probabilities, truth, weights, "probability");
  std::vector<CalibrationBin> all(static_cast<std::size_t>(bins));
  double total = 0;
  double squares = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const double p = probabilities[i];
    require(p >= 0 && p <= 1, "expected probabilities in [0, 1]; got {} for sample {}", p, i);
    const double weight = weights.empty() ? 1 : static_cast<double>(weights[i]);
    const auto place = static_cast<std::ptrdiff_t>(std::ceil(p * bins)) - 1;
    CalibrationBin& bin = all[static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(place, 0, static_cast<std::ptrdiff_t>(bins) - 1))];
    bin.predicted += weight * p;
    bin.observed += weight * static_cast<double>(truth[i]);
    bin.samples += weight;
    total += weight;
    squares += weight * (p - static_cast<double>(truth[i])) * (p - static_cast<double>(truth[i]));
  }
  require(total > 0, "all {} weights are 0", weights.size());
  Calibration result{.bins = {}, .expected_error = 0, .brier = squares / total};
  for (std::size_t b = 0; b < all.size(); ++b) {
    CalibrationBin& bin = all[b];
    if (bin.samples == 0) continue;
    bin.low = static_cast<double>(b) / bins;
    bin.high = static_cast<double>(b + 1) / bins;
    bin.predicted /= bin.samples;
    bin.observed /= bin.samples;
    result.expected_error += bin.samples / total * std::abs(bin.observed - bin.predicted);
    result.bins.push_back(bin);
  }
  return result;
}

}  // namespace linnet
