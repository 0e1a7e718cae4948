// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/workloads.h"
#include "describe/setting.h"

namespace linnet::command {

/// Returns the losses that a configuration may name, as Loss enumerates them.
std::vector<std::string> loss_choices();

/// Options for the loss.
struct LossSettings {
  std::optional<std::string> loss = {};
  Setting options = {SettingTable()};  ///< fields of LossOptions
  std::string class_weights = {};      ///< "auto" or numbers with commas; empty: none given
};
/// Adds --loss, --class-weights and the flags of LossOptions.
void add_loss_options(CLI::App& command, LossSettings& settings);
/// Throws Error for weights that are no numbers, and for numbers out of range.
void apply(const LossSettings& settings, Job& job);

/// Reads the table [loss], fields of LossOptions (class_weights may be "auto"), and the tables
/// [loss.OUTPUT], the loss of one output each: fields of OutputLoss and of its options but l1 and
/// l2. Throws SettingError at the value.
void read_loss(const Setting& table, Job& job);

/// Returns the training set with samples of rare classes repeated as the job says (oversample()).
Dataset with_oversampling(const Job& job, const Dataset& train);

/// Returns the options of the training once its data are there, as they are trained: "auto" becomes
/// their class weights.
TrainingOptions with_class_weights(const Job& job, const Dataset& train);

}  // namespace linnet::command
