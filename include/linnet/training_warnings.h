// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/export.h>
#include <linnet/model.h>
#include <linnet/trainer.h>

#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Returns a sentence for each thing in which a training of `model` on `data` looks like a mistake,
/// and what to do about it; empty: none. Looks for
/// - inputs of large numbers that neither the first layers nor a table transform scale,
/// - the squared error on targets that are all 0 or 1,
/// - a validation or test set of which a tenth or more is in the training set, or was in that of an
///   earlier training (remember_samples()),
/// - a test set that chooses the epoch (patience, keep_best), since there is no validation set.
/// Samples that a source gives are not looked at.
std::vector<std::string> training_warnings(const Model& model, const Splits& data,
                                           const TrainingOptions& options);

/// Notes in the training record which samples the model has learned from: at most 512 hashes of
/// their inputs, the smallest ones, in addition to those of earlier trainings. Does nothing for
/// samples that a source gives.
void remember_samples(Model& model, const Dataset& train);

/// Returns the estimated share of `data`, in [0, 1], that remember_samples() has noted: of the
/// samples whose hashes are below the largest one noted, those that are noted. Exact where at most
/// 512 different samples were noted; else it needs about as many samples as a 512th of the training
/// set. 0 where nothing is known.
double seen_share(const Model& model, const Dataset& data);

}  // namespace linnet
LINNET_API_END
