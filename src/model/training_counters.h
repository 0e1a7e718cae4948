// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/program_cache.h"
#include "model/session.h"

namespace linnet {

// What the steps of one training count on the device, and where it stopped: in the memory that its
// objectives share (finish.h), which is there once a program of it is attached.

/// The counters of the steps since reset_counters(), and where the training stopped. Waits.
struct TrainingCounters {
  Counters counters;
  std::optional<std::uint64_t> stopped = {};  ///< as stopped_step()
};
TrainingCounters counters_of(const ModelState& model, const OptimizerMemory& memory);
void reset_counters(const ModelState& model, const OptimizerMemory& memory);
/// Save the counters, and restore them with the losses of the newest steps before `steps`. Wait.
std::vector<double> saved_counters(const ModelState& model, const OptimizerMemory& memory);
void restore_counters(const ModelState& model, const OptimizerMemory& memory,
                      std::span<const double> counters, std::span<const float> losses,
                      std::uint64_t steps);

/// Returns the step at which a training stopped since something was not finite, counted as
/// StepInfo::step, if it did (FiniteCheckOp). Waits.
std::optional<std::uint64_t> stopped_step(const ModelState& model, const OptimizerMemory& memory);
/// Lets it go on.
void clear_stopped(const ModelState& model, const OptimizerMemory& memory);
/// Returns whether a training's loss is multiplied by a scale.
bool scales_loss(const ModelState& model);
/// Zeroes the results of an objective's shards, which may not be finite.
void clear_shards(const ModelState& model, const TrainingMemory& memory);

/// Returns the losses of a training's steps [begin, end), counted as StepInfo::step; of the newest
/// kLossHistory of them where they are more. Waits.
std::vector<float> step_losses(const ModelState& model, const OptimizerMemory& memory,
                               std::uint64_t begin, std::uint64_t end);

}  // namespace linnet
