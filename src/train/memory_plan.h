// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/inspect.h>

#include <cstddef>
#include <cstdint>

#include "model/step_graph.h"
#include "nn/definition.h"
#include "runtime/backend.h"

namespace linnet {

/// Returns what a training's steps are compiled from, where only their plan is asked for: the
/// optimizer is one of a single step.
TrainingStep planned_step(const NetworkDefinition& network, std::int64_t batch,
                          const TrainingOptions& options);

/// Returns the graph of such a step, fused for the backend.
Graph training_graph(const NetworkDefinition& network, std::int64_t batch,
                     const TrainingOptions& options, const Backend& backend);

/// Returns the graph of a Predictor's runs of a batch, fused for the backend.
Graph prediction_graph(const NetworkDefinition& network, std::int64_t batch,
                       const Backend& backend);

/// Returns the memory of a training's steps, whose batches are of so many shards.
MemoryPlan training_memory(const NetworkDefinition& network, std::int64_t batch,
                           std::int64_t shards, const TrainingOptions& options, Backend& backend);

/// Returns the memory of a shard's results and of the sums that a step of so many shards, at least
/// 2, keeps.
std::size_t sums_bytes(const NetworkDefinition& network, std::int64_t shards,
                       bool side_by_side = false);

/// Returns that of TrainingOptions::shards, or of the fewest that TrainingOptions::memory_limit
/// asks for. Throws Error where nothing stays within the limit.
MemoryPlan planned_training(const NetworkDefinition& network, std::int64_t batch,
                            const TrainingOptions& options, Backend& backend);

/// Throws Error where no form of a training stays within the limit: the smallest needs `least`.
[[noreturn]] void fail_above_limit(std::size_t least, std::int64_t batch, std::size_t limit);

/// Returns the memory of predictions of a batch.
MemoryPlan prediction_memory(const NetworkDefinition& network, std::int64_t batch, Loss loss,
                             Backend& backend);

}  // namespace linnet
