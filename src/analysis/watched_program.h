// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace linnet {

/// Does with a program what is to be measured: `run(count)` runs so many steps and waits, and
/// `next` is the step that comes next.
using WatchProgram = std::function<void(Program& program, StepInfo& next,
                                        const std::function<void(std::uint64_t)>& run)>;

/// Calls `watch` with the program of a training step, which always sees the same batch. Returns the
/// device's notes. Throws as profile_training().
std::vector<std::string> watch_training(Model& model, const Dataset& data, std::int64_t batch,
                                        const TrainingOptions& options, const WatchProgram& watch);

/// Calls `watch` with the program of a Predictor for `batch` samples, all zeros.
std::vector<std::string> watch_prediction(Model& model, std::int64_t batch,
                                          const WatchProgram& watch);

/// Returns the shapes of a node's first two operands and first result.
std::string shapes_of(const Graph& graph, const Node& node);

}  // namespace linnet
