// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/custom_metric.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "model/model_state.h"
#include "model/step_graph.h"

namespace linnet {

/// Numbers that the metrics of a trainer average, all together.
inline constexpr std::int64_t kMetricNumbers = 32;

/// Returns how much of a model's state their sums take, and where they begin.
std::size_t metric_sums_bytes();
std::size_t metric_sums_offset(const NetworkDefinition& network);

/// Throws Error for names that are missing, taken or there twice, missing functions, an output that
/// is not there, and too many numbers.
void check_metrics(std::span<const CustomMetric> metrics, const NetworkDefinition& network);

/// Adds the data's metrics of a network's outputs, against a batch of each of the data's targets:
/// each number's mean over the batch joins its sum. `weights`: of each target, empty ones where all
/// samples count alike. Throws Error where a metric's values don't fit.
void add_metric_sums(Graph& graph, const NetworkDefinition& network, const StepData& data,
                     std::span<const Value> outputs, std::span<const Value> targets,
                     std::span<const Value> weights, std::int64_t batch);

/// Before a pass over the data, and after it: the metrics by name. Waits.
void reset_metric_sums(const ModelState& model, const StepData& data);
std::map<std::string, double> metrics_of(const ModelState& model, const StepData& data);

}  // namespace linnet
