// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "describe/field.h"
#include "model/step_graph.h"
#include "ops/optimizer_update/optimizer_update.h"

namespace linnet {

struct ModelState;
struct TrainerState;

/// What decides the bits of a fit, by name, as texts: options, data, network, device. User's
/// functions (custom losses, schedules, metrics) are known by their names alone.
using FitSettings = std::vector<std::pair<std::string, std::string>>;

/// Returns those of a fit, without the numbers of its epochs (FitState), and goes through all data
/// once. options: with the shards that are used; optimizer: resolved for the fit; data: what its
/// steps read; continued: the settings of the fit that it continues, in whose words it says its
/// own.
FitSettings settings_of(const TrainerState& trainer, const Dataset& train,
                        const FitOptions& options, const OptimizerAttrs& optimizer,
                        const StepData& data, const FitSettings& continued = {});

/// Adds the fields of described options that change what is computed. A fit that is continued lacks
/// those that are newer than it; they had their defaults.
void add_fields(const Description& options, const void* object, const FitSettings& continued,
                FitSettings& settings);

/// Returns "checksum 1a2b3c4d" of all weights and running statistics. Waits.
std::string weights_text(const ModelState& model);

/// Throws Error naming the first setting that differs. `what` begins the sentence: "the checkpoint
/// 'x'".
void check_settings(const FitSettings& saved, const FitSettings& now, const std::string& what);

/// Returns the shards of the fit that had these settings; 0: they do not say.
std::int64_t shards_of(const FitSettings& saved);

}  // namespace linnet
