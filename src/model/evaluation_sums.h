// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "model/model_state.h"
#include "model/step_graph.h"

namespace linnet {

// What an evaluation adds up on the device, in the model's state after its running statistics: the
// counters of all samples, then sums of each output's loss, then of the custom metrics. All are
// MetricsOp's counters. A sum holds numerator and denominator over all batches, so its mean does
// not depend on how the samples are cut into batches.

/// Numbers that the metrics of a trainer average, all together.
inline constexpr std::int64_t kMetricNumbers = 32;

/// Returns the bytes of all counters and sums.
std::size_t evaluation_bytes(const NetworkDefinition& network);

/// Returns where the custom metrics' sums begin in the model's state.
std::size_t metric_sums_offset(const NetworkDefinition& network);

/// Adds a batch's `mean` to the sum at `offset`, which moves on to the next one. counts: what the
/// batch's samples count, f32 (N, ...), of which `mean` is the weighted mean; none: all alike.
void add_sum(Graph& graph, const std::string& name, std::size_t& offset, Value mean, Value counts,
             std::int64_t batch);

/// Adds a batch's loss of each of the data's targets to its sum. outputs: the network's; targets,
/// weights and losses: by target.
void add_loss_sums(Graph& graph, const NetworkDefinition& network, const StepData& data,
                   std::span<const Value> outputs, std::span<const Value> targets,
                   std::span<const Value> weights, std::span<const Value> losses,
                   std::int64_t batch);

/// Sets all counters and sums to 0.
void reset_evaluation(const ModelState& model);

/// Returns what the batches since reset_evaluation() gave; `data` as their steps read it. Waits.
Evaluation evaluation_of(const ModelState& model, const StepData& data);

}  // namespace linnet
