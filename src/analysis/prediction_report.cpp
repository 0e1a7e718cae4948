// SPDX-License-Identifier: Apache-2.0
#include <linnet/prediction_report.h>
#include <linnet/table_transform.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "data/targets.h"
#include "train/log_odds.h"
#include "train/metrics_of_model.h"

namespace linnet {
namespace {

void require_pairs(std::span<const float> outputs, std::span<const float> targets) {
  require(!outputs.empty() && outputs.size() == targets.size(),
          "expected one output for each target; got {} and {}", outputs.size(), targets.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    require(!std::isnan(outputs[i]) && !std::isnan(targets[i]), "{} of sample {} is NaN",
            std::isnan(outputs[i]) ? "output" : "target", i);
  }
}

double residual(float target, float output) {
  return static_cast<double>(target) - static_cast<double>(output);
}

/// Every `columns`-th number from `column` on.
std::vector<float> column_of(std::span<const float> rows, std::size_t columns, std::size_t column) {
  std::vector<float> values;
  values.reserve(rows.size() / columns);
  for (std::size_t i = column; i < rows.size(); i += columns) values.push_back(rows[i]);
  return values;
}

/// `scores`: log odds where there are probabilities. Their order is finer than that of f32
/// probabilities, so the curve follows it.
ClassReport class_report(std::string name, const std::vector<float>& scores,
                         const std::vector<float>& truth, std::span<const float> weights,
                         const PredictionReportOptions& options) {
  ClassReport report{.name = std::move(name), .curve = threshold_curve(scores, truth, weights)};
  if (!options.probabilities) return report;
  for (float& threshold : report.curve.thresholds) threshold = probability_of(threshold);
  std::vector<float> probabilities;
  probabilities.reserve(scores.size());
  for (const float score : scores) probabilities.push_back(probability_of(score));
  report.calibration = calibration(probabilities, truth, options.calibration_bins, weights);
  return report;
}

std::string name_of(const std::vector<std::string>& names, std::size_t index) {
  return index < names.size() ? names[index] : std::to_string(index);
}

void report_labels(PredictionReport& report, std::span<const float> predictions,
                   const Dataset& data, const PredictionReportOptions& options) {
  const std::span<const std::int32_t> labels = labels_of(data);
  require<DataError>(predictions.size() % labels.size() == 0,
                     "expected equally many scores for each sample; got {} scores, {} labels",
                     predictions.size(), labels.size());
  const std::size_t classes = predictions.size() / labels.size();
  const std::span<const float> given =
      data.weights().elements() > 0 ? data.weights().as<float>() : std::span<const float>();
  std::vector<float> scores;
  std::vector<std::int32_t> kept;
  std::vector<float> weights;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == options.ignore_index) continue;
    const std::span<const float> row = predictions.subspan(i * classes, classes);
    scores.insert(scores.end(), row.begin(), row.end());
    kept.push_back(labels[i]);
    if (!given.empty()) weights.push_back(given[i]);
  }
  report.samples = static_cast<std::int64_t>(kept.size());
  if (kept.empty() || classes < 2 || classes > options.most_classes) return;
  if (options.probabilities) to_log_odds(scores, classes);
  std::vector<float> truth(kept.size());
  // One of two classes says all of the other.
  for (std::size_t c = classes == 2 ? 1 : 0; c < classes; ++c) {
    std::ranges::transform(kept, truth.begin(), [&](std::int32_t label) {
      return label == static_cast<std::int32_t>(c) ? 1.0F : 0.0F;
    });
    report.classes.push_back(class_report(name_of(data.classes(), c), column_of(scores, classes, c),
                                          truth, weights, options));
  }
  if (classes == 2 || !options.probabilities) return;
  std::vector<float> probabilities;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto row = std::span<const float>(scores).subspan(i * classes, classes);
    const auto largest = std::ranges::max_element(row);
    probabilities.push_back(probability_of(*largest));
    truth[i] = largest - row.begin() == kept[i] ? 1.0F : 0.0F;
  }
  report.predicted_class = calibration(probabilities, truth, options.calibration_bins, weights);
}

ValueReport value_report(std::string name, std::vector<float> outputs, std::vector<float> targets,
                         std::span<const float> weights, const PredictionReportOptions& options) {
  ValueReport report;
  report.name = std::move(name);
  report.r_squared = r_squared(outputs, targets, 1, weights);
  report.mae = mean_absolute_error(outputs, targets, weights);
  report.rmse = root_mean_squared_error(outputs, targets, weights);
  report.residuals = residual_histogram(outputs, targets, options.residual_bins);
  report.worst = worst_predictions(outputs, targets, options.worst);
  report.actual.assign(targets.begin(), targets.end());
  report.predicted.assign(outputs.begin(), outputs.end());
  return report;
}

}  // namespace

std::vector<WorstPrediction> worst_predictions(std::span<const float> outputs,
                                               std::span<const float> targets, std::size_t count) {
  require_pairs(outputs, targets);
  std::vector<std::size_t> order(outputs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  const auto worse = [&](std::size_t a, std::size_t b) {
    const double of_a = std::abs(residual(targets[a], outputs[a]));
    const double of_b = std::abs(residual(targets[b], outputs[b]));
    return of_a != of_b ? of_a > of_b : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    worse);
  std::vector<WorstPrediction> worst;
  for (std::size_t i = 0; i < count; ++i) {
    worst.push_back({static_cast<std::int64_t>(order[i]), targets[order[i]], outputs[order[i]]});
  }
  return worst;
}

ResidualHistogram residual_histogram(std::span<const float> outputs, std::span<const float> targets,
                                     int bins) {
  require(bins >= 1, "expected at least 1 range of residuals; got {}", bins);
  require_pairs(outputs, targets);
  ResidualHistogram histogram{.least = residual(targets[0], outputs[0]),
                              .most = residual(targets[0], outputs[0]),
                              .counts = std::vector<std::int64_t>(static_cast<std::size_t>(bins))};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double of = residual(targets[i], outputs[i]);
    require(std::isfinite(of), "the residual of sample {} is not finite", i);
    histogram.least = std::min(histogram.least, of);
    histogram.most = std::max(histogram.most, of);
  }
  const double width = histogram.most - histogram.least;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double place =
        width > 0 ? (residual(targets[i], outputs[i]) - histogram.least) / width * bins : 0;
    ++histogram.counts[std::min(static_cast<std::size_t>(place), histogram.counts.size() - 1)];
  }
  return histogram;
}

namespace {

/// `as_values`: 0 and 1 are values and no labels.
PredictionReport report_on(std::span<const float> predictions, const Dataset& data,
                           const PredictionReportOptions& options, bool as_values) {
  PredictionReport report;
  if (data.size() == 0 || data.targets().empty()) return report;
  const Dataset read = with_first_target_read(data);
  if (!all_labels_of(read).empty()) {
    if (!labels_of(read).empty()) report_labels(report, predictions, read, options);
    return report;
  }
  const std::span<const float> values = values_of(read);
  const Column& target = read.targets()[0];
  if (target.record().rank() > 1 || target.has_lengths()) return report;
  require<DataError>(values.size() == predictions.size(),
                     "expected an output for each of {} targets; got {}", values.size(),
                     predictions.size());
  const auto columns = static_cast<std::size_t>(value_shape_of(read).elements());
  if (columns > options.most_classes) return report;
  report.samples = read.size();
  const std::span<const float> weights =
      read.weights().elements() > 0 ? read.weights().as<float>() : std::span<const float>();
  const bool binary =
      !as_values && std::ranges::all_of(values, [](float t) { return t == 0 || t == 1; });
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<float> outputs = column_of(predictions, columns, c);
    std::vector<float> targets = column_of(values, columns, c);
    if (binary) {
      report.classes.push_back(
          class_report(name_of(read.classes(), c), outputs, targets, weights, options));
    } else {
      const std::string name = columns == 1 ? target.name
                               : c < options.value_names.size()
                                   ? options.value_names[c]
                                   : fmt::format("{} {}", target.name, c);
      report.values.push_back(
          value_report(name, std::move(outputs), std::move(targets), weights, options));
    }
  }
  return report;
}

}  // namespace

PredictionReport prediction_report(std::span<const float> predictions, const Dataset& data,
                                   const PredictionReportOptions& options) {
  return report_on(predictions, data, options, false);
}

PredictionReport report_for(const Model& model, std::span<const float> predictions,
                            const Dataset& data, const PredictionReportOptions& options) {
  PredictionReport report = report_on(predictions, data, options, predicts_values(model));
  const std::vector<double> offsets = model.table().target_offsets();
  for (std::size_t i = 0; i < std::min(offsets.size(), report.values.size()); ++i) {
    ValueReport& values = report.values[i];
    for (double& one : values.actual) one += offsets[i];
    for (double& one : values.predicted) one += offsets[i];
    for (WorstPrediction& one : values.worst) {
      one.actual += offsets[i];
      one.predicted += offsets[i];
    }
  }
  return report;
}

}  // namespace linnet
