// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "model/step_graph.h"

namespace linnet {

/// Returns what the options ask of the images of a network's first input. Throws Error where data,
/// network or losses don't go together with it.
/// step: its parts and targets.
StepAugment step_augment(const Augment& augment, const NetworkDefinition& network,
                         const Dataset& data, const StepData& step);

/// Returns the batch of the first input: augmented, or in inference mode cropped.
Value add_images(Graph& graph, const StepAugment& augment, Value all, Mode mode, std::int64_t batch,
                 bool shuffle, const std::string& name);

/// Mixes the batch of the first input.
Value mix_samples(Graph& graph, const StepAugment& augment, Value x, const std::string& name);
/// Mixes targets for an output of `outputs`, a sample's shape: labels become rows.
Value mix_targets(Graph& graph, const StepAugment& augment, Value target, const Shape& outputs,
                  const std::string& name);

}  // namespace linnet
