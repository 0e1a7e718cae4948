// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/given.h"
#include "report/json.h"

namespace linnet::command {

/// Where a network runs and how, as arguments say it; what they leave out stays as it is.
struct DeviceOptions {
  std::optional<std::string> device;
  std::optional<std::string> precision;
  std::optional<std::string> graph;
  std::optional<std::string> conv_engine;
  std::optional<std::string> deterministic;
  bool tune = false;
};

/// Declares --device, --precision, --graph, --conv-engine, --deterministic and --tune.
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

/// Returns the names of --precision, in the order of Precision, of --conv-engine, and of
/// --deterministic.
const std::vector<std::string>& precision_names();
const std::vector<std::string>& conv_engine_names();
const std::vector<std::string>& on_and_off();

/// Returns what is wrong with a device's name, or "".
std::string device_mistake(const std::string& name);
/// CudaOptions::graph_steps for "off", "epoch" or a number of steps; nothing for other texts.
std::optional<std::int64_t> graph_steps(std::string_view text);
inline constexpr std::string_view kGraphChoices = "off, epoch or a number of steps from 1 to 10000";

/// Returns the plug-in that LINNET_CUDA_LIBRARY names, or "" for Linnet's own.
std::string cuda_library();

/// Adds what `model` runs on to a record: device and device_name, precision as far as the device
/// knows it, graph, conv_engine and deterministic (null on the CPU), and with --tune
/// engine_choices.
void add_device(Json& json, const Model& model, const ModelOptions& options);

}  // namespace linnet::command
