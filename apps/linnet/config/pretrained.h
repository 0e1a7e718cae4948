// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/workloads.h"
#include "describe/setting.h"

namespace linnet::command {

/// Options of `linnet train` for a trained model from which it starts.
struct PretrainedSettings {
  std::string from;
  std::string network;  ///< of the zoo
  std::string weights;  ///< a file of its weights
  std::vector<std::string> freeze;
  std::optional<std::int64_t> head;
};

/// Adds --network, which is a setting of series, or else the name of a network of the literature.
void add_network_option(CLI::App& command, Setting& given, std::string& network);
/// Adds --from, --weights, --freeze and --replace-head.
void add_pretrained_options(CLI::App& command, PretrainedSettings& settings);
/// Throws Error for a head without a model, and for a network without a folder of images.
void apply(const PretrainedSettings& settings, Job& job);

/// Returns the model that a job trains: of its network, or that of Job::from with its own network,
/// which becomes the job's. Frozen parameters go from the job's groups. Throws Error for a pattern
/// that matches no parameter, and where nothing is left to train.
Model make_model(Job& job);

}  // namespace linnet::command
