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

/// Describes a custom metric, which every evaluation of a Trainer measures on its device. The
/// library keeps sums over the samples, by their weights (Dataset::set_weights()), so a metric is a
/// function of means over the data set. The mean absolute error:
/// @code
/// CustomMetric{.name = "mae", .values = [](const Expression& y, const Expression& t) {
///   return abs(y - t);
/// }}
/// @endcode
/// `result` computes a metric from means, such as the root of the mean squared error:
/// @code
/// CustomMetric{.name = "rmse", .values = ..., .result = [](std::span<const double> means) {
///   return std::sqrt(means[0]);
/// }}
/// @endcode
struct CustomMetric {
  /// Name in Evaluation::metrics and Watch::metric; not empty, "loss" or "accuracy".
  std::string name = {};
  /// Numbers to average, from an output of the network and its targets (labels come as one-hot
  /// rows). Without `result` it may return any number of values for a sample: the metric is their
  /// mean.
  std::function<Expression(const Expression& y, const Expression& target)> values = {};
  /// Computes the metric from the mean of each of a sample's numbers. Empty: the mean itself.
  std::function<double(std::span<const double> means)> result = {};
  /// Number of values that `values` returns for a sample, if there is a `result`. At least 1; all
  /// metrics together have at most 32.
  std::int64_t numbers = 1;
  std::string output = {};  ///< name of the output; empty: the first one that has targets
};

/// Says whether smaller or larger numbers of a metric are better.
enum class Better : std::uint8_t { smaller, larger };

/// Names the number that decides which epoch is the best: the validation set's, else the test
/// set's, else the training's.
struct Watch {
  std::string metric = "loss";      ///< "loss", "accuracy", or a CustomMetric::name
  Better better = Better::smaller;  ///< which of two numbers is the better one
};

}  // namespace linnet
LINNET_API_END
