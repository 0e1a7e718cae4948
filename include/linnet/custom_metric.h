// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/expression.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// A metric of one's own, measured by every evaluation of a Trainer, on its device. The library
/// keeps sums over the samples, by their weights (Dataset::set_weights()), so a metric is what
/// follows from means over the data set:
///   CustomMetric{.name = "mae", .values = [](const Expression& y, const Expression& t) {
///     return abs(y - t);
///   }}
/// the mean absolute error, and with `result` its like that are no means themselves:
///   CustomMetric{.name = "rmse", .values = ..., .result = [](std::span<const double> means) {
///     return std::sqrt(means[0]);
///   }}
struct CustomMetric {
  /// In Evaluation::metrics and FitOptions::watch; not "loss" or "accuracy".
  std::string name = {};
  /// What is averaged, from an output as the network gives it and its targets (labels come as
  /// one-hot rows). Without `result` any numbers of a sample: the metric is the mean of all.
  std::function<Expression(const Expression& y, const Expression& target)> values = {};
  /// The metric, from the mean of each of a sample's numbers.
  std::function<double(std::span<const double> means)> result = {};
  /// With `result`: how many numbers `values` gives a sample. At least 1; all metrics together have
  /// at most 32.
  std::int64_t numbers = 1;
  std::string output = {};  ///< by name; empty: the first that has targets
};

enum class Better : std::uint8_t { smaller, larger };

/// What tells the best epoch: the validation set's, or else the test set's, or else the training's
/// number of that name.
struct Watch {
  std::string metric = "loss";  ///< or "accuracy", or CustomMetric::name
  Better better = Better::smaller;
};

}  // namespace linnet
LINNET_API_END
