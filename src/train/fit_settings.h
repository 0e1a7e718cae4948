// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <string>
#include <utility>
#include <vector>

#include "model/step_graph.h"
#include "ops/optimizer_update/optimizer_update.h"

namespace linnet {

struct TrainerState;

/// What decides the bits of a fit, by name, as texts: options, data, network, device. User's
/// functions (custom losses, schedules, metrics) are known by their names alone.
using FitSettings = std::vector<std::pair<std::string, std::string>>;

/// Of a fit, without the numbers of its epochs (FitState). optimizer: resolved for it. data: what
/// its steps read. Goes through all data once.
FitSettings settings_of(const TrainerState& trainer, const Dataset& train,
                        const FitOptions& options, const OptimizerAttrs& optimizer,
                        const StepData& data);

/// Throws Error naming the first setting that differs. `what` begins the sentence: "the checkpoint
/// 'x'".
void check_settings(const FitSettings& saved, const FitSettings& now, const std::string& what);

}  // namespace linnet
