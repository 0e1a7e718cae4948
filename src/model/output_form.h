// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <linnet/dataset.h>
#include <linnet/model.h>

#include "model/step_graph.h"

namespace linnet {

/// Returns how many classes the first output can tell apart: its last axis; a single number two.
std::int64_t most_classes(const NetworkDefinition& network);

/// See Model::answers().
Answers answers_of(const ModelState& model);

/// Returns how Model::predict_probabilities() gives the first output. Throws Error where the loss
/// of the training knows no probabilities.
OutputForm probability_form(const ModelState& model);

/// Returns the first output of every sample in that form, f32 (N, outputs...), of a model of fp64
/// too, in the data set's order.
Tensor predict_in_form(Model& model, const Dataset& data, std::int64_t batch, OutputForm form);

/// Returns every output of every sample, f32 (N, outputs...), without offsets of targets.
std::vector<Tensor> predict_outputs(Model& model, const Dataset& data, std::int64_t batch);

/// Returns the inputs with kFold, for the networks of nn/ensembles.h that read it.
Dataset with_fold_column(const Dataset& data);

/// Returns outputs (N, ...) with what a model's table takes off its targets added, f64; the outputs
/// themselves where that is 0.
Tensor with_offsets(const Tensor& outputs, const std::vector<double>& offsets);

}  // namespace linnet
