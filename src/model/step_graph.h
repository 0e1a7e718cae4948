// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/trainer.h>

#include "nn/definition.h"
#include "ops/optimizer_update/optimizer_update.h"
#include "plan/passes/passes.h"
#include "runtime/backend.h"

namespace linnet {

/// The external slots of every step graph.
enum Slot : std::size_t { kSamples = 0, kTargets = 1, kOutputs = 2 };

/// What a step reads: one record of the samples and one of the targets, as (1, ...).
struct Records {
  ValueType samples;
  ValueType targets;
};
Records records_of(const Dataset& data);
/// All records, as a gather takes them.
std::span<const std::byte> sample_bytes(const Dataset& data);
std::span<const std::byte> target_bytes(const Dataset& data);

/// Replaces Loss::automatic, and throws Error where data, loss and network don't go together: other
/// sample shapes, more classes than outputs, values for cross-entropy, ...
Loss check_data(const NetworkDefinition& network, const Dataset& data, Loss loss);

/// Schedules in epochs resolved to steps. Throws Error for numbers outside their range.
OptimizerAttrs resolve(const Optimizer& optimizer, std::int64_t epochs,
                       std::int64_t steps_per_epoch);

/// What the backend answers, which must outlive it.
Supports supports_of(const Backend& backend);

struct TrainingStep {
  std::int64_t batch = 128;
  bool shuffle = true;
  Loss loss = Loss::cross_entropy;
  OptimizerAttrs optimizer;
  std::vector<std::string> disabled_passes = {};
};

/// Gather, forward, loss, metrics, backward and update as one graph, all passes run.
Graph training_step(const NetworkDefinition& network, const Records& records,
                    const TrainingStep& step, const Supports& supports);

/// Gather in stored order, forward in inference mode, loss, metrics.
Graph evaluation_step(const NetworkDefinition& network, const Records& records, std::int64_t batch,
                      Loss loss, const Supports& supports);

/// Gather in stored order and forward in inference mode into Slot::kOutputs; as probabilities if
/// asked and the network does not end in softmax.
Graph prediction_step(const NetworkDefinition& network, const ValueType& samples,
                      std::int64_t batch, bool probabilities, const Supports& supports);

}  // namespace linnet
