// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "config/given.h"
#include "describe/field.h"
#include "report/json.h"

namespace linnet::command {

/// Describes where a network runs and how, by the flags of ModelOptions and its parts.
const Description& device_table();

/// What arguments say of it; what they leave out stays as it is.
struct DeviceOptions {
  Setting given = {SettingTable()};  ///< fields of device_table()

  std::optional<std::string> device() const;
  void set_device(const std::string& name);
};

/// Declares the flags of device_table().
void add_device_options(CLI::App& command, DeviceOptions& options);
/// Overrides `model` by what was given, and fills in the folder for measured choices and the
/// plug-in that LINNET_CUDA_LIBRARY names.
void apply(const DeviceOptions& options, ModelOptions& model);

/// Refuses options of add_device_options() that do nothing on the device of `model`, where "auto"
/// may have led.
void check_used(const GivenOptions& given, const Model& model);
void check_used(const GivenOptions& given, const ModelOptions& on);

/// Does the same for a plan that is only looked at: on the CPU, whatever `model` says, unless
/// --device says otherwise.
ModelOptions planned_on(const DeviceOptions& options, ModelOptions model);

/// Returns the precision as --precision calls it.
const std::string& name_of(Precision precision);

/// Returns the plug-in that LINNET_CUDA_LIBRARY names, or "" for Linnet's own.
std::string cuda_library();

/// Adds what `model` runs on to a record: device and device_name, precision as far as the device
/// knows it, graph, conv_engine and deterministic (null on the CPU), and with --tune
/// engine_choices.
void add_device(Json& json, const Model& model, const ModelOptions& options);

}  // namespace linnet::command
