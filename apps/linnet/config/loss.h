// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/section.h"
#include "config/workloads.h"

namespace linnet::command {

/// Returns the losses that a configuration may name, as Loss enumerates them.
std::vector<std::string> loss_choices();

/// Options for the loss.
struct LossSettings {
  std::optional<std::string> loss = {};
  std::optional<double> label_smoothing = {};
  std::string class_weights = {};  ///< "auto" or numbers with commas; empty: none given
};
/// Adds --loss, --label-smoothing and --class-weights.
void add_loss_options(CLI::App& command, LossSettings& settings);
/// Throws Error for weights that are no numbers.
void apply(const LossSettings& settings, Job& job);

/// Reads the table [loss]: label_smoothing, class_weights ("auto" or numbers), positive_weights,
/// ignore_index, focal_gamma, focal_alpha, huber_delta, l1, l2; and the tables [loss.OUTPUT], the
/// loss of one output each: loss, weight, target and these options but l1 and l2. Throws Error at
/// the value.
void read_loss(Section& section, Job& job);

/// Returns the training set with samples of rare classes repeated as the job says (oversample()).
Dataset with_oversampling(const Job& job, const Dataset& train);

/// Returns the options of the training once its data are there, as they are trained: "auto" becomes
/// their class weights.
TrainingOptions with_class_weights(const Job& job, const Dataset& train);

}  // namespace linnet::command
