// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace linnet {

/// A network's inputs in a graph, by name: network_input() finds them.
using LossInputs = std::vector<std::pair<std::string, Value>>;

/// Adds a function of outputs `y` (N, ...) and `target`: values f32, or labels i32 (N), which it
/// gets one-hot, (N, classes). Returns what the function returns; its first axis is the batch.
/// `what` is how its operators and an Error call the function.
Value add_custom_values(Graph& graph, const CustomLoss& function, std::string_view what, Value y,
                        Value target, const LossInputs& inputs = {});

/// Adds the mean over all axes, a scalar.
Value add_mean(Graph& graph, Value x, const std::string& name);

/// Adds the user's loss of outputs `y` (N, ...) against `target`, as add_custom_values() has them.
/// Returns a scalar, the mean of what the function returns; the weighted mean with `weights` (N),
/// or of more of its first axes.
Value add_custom_loss(Graph& graph, const CustomLoss& loss, Value y, Value target, Value weights,
                      const LossInputs& inputs);

}  // namespace linnet
