// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <vector>

#include "nn/definition.h"

namespace linnet {

// Columns belong to a network's inputs and outputs by name; a single one takes the only column,
// whatever its name. The columns are the data set's own.

/// Returns the column of each input; of an input of lengths that of the sequences, which has them.
/// Throws Error naming an input without one, and the columns there are; and for lengths that the
/// network or the data lack.
std::vector<const Column*> bind_inputs(const NetworkDefinition& network, const Dataset& data);

/// Returns the target of each output; null: the output has no loss. Throws Error naming a target
/// without an output, and for a data set without targets.
std::vector<const Column*> bind_targets(const NetworkDefinition& network, const Dataset& data);

/// Returns the targets of the outputs for which `wanted` holds; null for the others, whose columns
/// are not looked at. Throws Error naming an output without a target.
std::vector<const Column*> bind_targets(const NetworkDefinition& network, const Dataset& data,
                                        const std::vector<bool>& wanted);

/// Returns whether the network answers a data set by members that hold its samples out: its members
/// hold out folds (NetworkOutput::holds_out()), and the data set has some.
bool has_folds(const NetworkDefinition& network, const Dataset& data);

}  // namespace linnet
