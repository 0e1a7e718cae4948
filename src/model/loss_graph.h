// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/loss.h>

#include <span>

#include "graph/graph.h"

namespace linnet {

/// Throws Error where the options are out of their range, don't belong to the loss, or don't fit
/// outputs of shape `outputs` (a sample's). `labels`: whether the targets are labels.
void check_loss_options(Loss loss, const LossOptions& options, bool labels, const Shape& outputs);

/// Adds the mean loss of outputs `y` (N, ...) against `target`: labels i32 of y's shape without its
/// last axis, or values of y's shape. Any Loss but automatic, with options that
/// check_loss_options() took. Returns a scalar. `weights`: f32 (N), or of more of the first axes of
/// what the loss is a mean of; none: all alike.
Value add_loss(Graph& graph, Loss loss, const LossOptions& options, Value y, Value target,
               Value weights = {});

/// Returns whether such a loss counts each sample by its label: by the class's weight, or not at
/// all. target: the targets' element type.
bool counts_by_label(Loss loss, const LossOptions& options, DType target);

/// Returns what the samples of add_loss()'s batch count in what it divides by, f32 (N), or of more
/// of the first axes of `target`; none: all count alike.
Value loss_counts(Graph& graph, Loss loss, const LossOptions& options, Value y, Value target,
                  Value weights = {});

/// LossOptions::l1 and l2 of all `weights` of two axes or more; empty where there are none.
Value add_penalties(Graph& graph, double l1, double l2, std::span<const Value> weights);

}  // namespace linnet
