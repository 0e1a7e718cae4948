// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/custom_metric.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "model/step_graph.h"

namespace linnet {

/// Throws Error for names that are missing, taken or there twice, missing functions, an output that
/// is not there, and too many numbers.
void check_metrics(std::span<const CustomMetric> metrics, const NetworkDefinition& network);

/// Adds the data's metrics of a network's outputs, against a batch of each of the data's targets:
/// each number's mean over the batch joins its sum. `weights`: of each target, empty ones where all
/// samples count alike. Throws Error where a metric's values don't fit.
void add_metric_sums(Graph& graph, const NetworkDefinition& network, const StepData& data,
                     std::span<const Value> outputs, std::span<const Value> targets,
                     std::span<const Value> weights, std::int64_t batch);

/// Returns the data's metrics by name, of their sums, which follow each other in `stride` numbers.
std::map<std::string, double> metrics_of(const StepData& data, std::span<const double> sums,
                                         std::size_t stride);

}  // namespace linnet
