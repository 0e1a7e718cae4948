// SPDX-License-Identifier: Apache-2.0
#include "model/custom_metrics.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "model/custom_loss.h"
#include "model/evaluation_sums.h"
#include "model/loss_weights.h"
#include "model/session.h"
#include "ops/reshape/reshape.h"
#include "ops/slice/slice.h"

namespace linnet {
namespace {

/// Returns which of the data's targets the metric is of.
std::size_t target_of(const CustomMetric& metric, const NetworkDefinition& network,
                      const StepData& data) {
  if (metric.output.empty()) return 0;
  const auto found = std::ranges::find_if(data.targets, [&](const TargetLoss& target) {
    return network.outputs[target.output].name == metric.output;
  });
  require(found != data.targets.end(),
          "the metric '{}' needs targets for the output '{}', which the data set does not have",
          metric.name, metric.output);
  return static_cast<std::size_t>(found - data.targets.begin());
}

/// Returns the values' numbers, apart where the metric follows from each of them.
std::vector<Value> numbers_of(Graph& graph, const CustomMetric& metric, Value values) {
  if (metric.result == nullptr) return {values};
  const Shape shape = graph.shape(values);
  const std::int64_t count = shape.sample().elements();
  require(count == metric.numbers,
          "the metric '{}' expected {} numbers a sample (CustomMetric::numbers); its values are {}",
          metric.name, metric.numbers, to_string(shape.sample()));
  if (count == 1) return {values};
  const Value rows = graph.emit(ReshapeOp({.shape = {shape[0], count}}), {values}, metric.name);
  std::vector<Value> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(
        graph.emit(SliceOp({.axis = 1, .begin = i, .end = i + 1}), {rows}, metric.name));
  }
  return numbers;
}

std::int64_t count_of(const CustomMetric& metric) {
  return metric.result != nullptr ? metric.numbers : 1;
}

}  // namespace

void check_metrics(std::span<const CustomMetric> metrics, const NetworkDefinition& network) {
  std::set<std::string_view> names;
  std::int64_t numbers = 0;
  for (const CustomMetric& metric : metrics) {
    require(!metric.name.empty(), "a metric has no name");
    require(metric.name != "loss" && metric.name != "accuracy",
            "the metric name '{}' is reserved for every evaluation; choose another name",
            metric.name);
    require(names.insert(metric.name).second, "two metrics are called '{}'", metric.name);
    require(metric.values != nullptr, "the metric '{}' has no function", metric.name);
    require(metric.numbers >= 1, "the metric '{}' expected at least 1 number a sample; got {}",
            metric.name, metric.numbers);
    const bool there = metric.output.empty() ||
                       std::ranges::any_of(network.outputs, [&](const NetworkOutput& output) {
                         return output.name == metric.output;
                       });
    require(there, "the metric '{}' names the output '{}', which the network does not have",
            metric.name, metric.output);
    numbers += count_of(metric);
  }
  require(numbers <= kMetricNumbers,
          "all metrics together have {} numbers a sample; expected at most {}", numbers,
          kMetricNumbers);
}

void add_metric_sums(Graph& graph, const NetworkDefinition& network, const StepData& data,
                     std::span<const Value> outputs, std::span<const Value> targets,
                     std::span<const Value> weights, std::int64_t batch) {
  std::size_t offset = metric_sums_offset(network);
  for (const CustomMetric& metric : data.metrics) {
    const std::size_t target = target_of(metric, data.run_of(network), data);
    const Value values =
        add_custom_values(graph, metric.values, fmt::format("metric '{}'", metric.name),
                          outputs[data.targets[target].output], targets[target]);
    const Value weight = weights[target];
    for (const Value number : numbers_of(graph, metric, values)) {
      const Value mean = weight ? weighted_mean(graph, number, shares_of(graph, weight))
                                : add_mean(graph, number, metric.name);
      add_sum(graph, metric.name, offset, mean, weight, batch);
    }
  }
}

std::map<std::string, double> metrics_of(const StepData& data, std::span<const double> sums,
                                         std::size_t stride) {
  std::map<std::string, double> metrics;
  std::size_t next = 0;
  for (const CustomMetric& metric : data.metrics) {
    std::vector<double> means;
    for (std::int64_t i = 0; i < count_of(metric); ++i) {
      const Counters sum = Counters::of(sums.subspan(next).first<kCounters>());
      const bool finite = sum.not_finite == 0 && sum.weight > 0;
      means.push_back(finite ? sum.loss / sum.weight : std::numeric_limits<double>::quiet_NaN());
      next += stride;
    }
    metrics[metric.name] = metric.result != nullptr ? metric.result(means) : means[0];
  }
  return metrics;
}

}  // namespace linnet
