// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/checkpoints.h"
#include "config/device.h"
#include "config/given.h"
#include "config/images.h"
#include "config/loss.h"
#include "config/prepared.h"
#include "config/pretrained.h"
#include "config/workloads.h"
#include "report/run_start.h"

namespace linnet::command {

/// The arguments of `linnet train`.
struct TrainOptions {
  GivenOptions given;  ///< a continued run was started with these, or continues with them
  std::string config;
  std::string workload;
  std::optional<std::string> data;
  DeviceOptions on;
  std::optional<std::string> optimizer;
  std::optional<double> learning_rate;
  std::optional<std::string> schedule;
  std::optional<double> average;
  LossSettings loss;
  std::optional<double> oversample;
  Setting training = {SettingTable()};  ///< fields of training_table()
  std::vector<std::string> disabled_passes;
  std::optional<std::string> augment;
  std::optional<std::string> views;
  Setting images = {SettingTable()};  ///< fields of image_flags()
  std::optional<int> threads;
  std::optional<std::uint64_t> seed;
  std::optional<std::string> checkpoint_every;
  PretrainedSettings pretrained;
  DataSettings of_data;  ///< what tasks describe
  std::optional<bool> save_best;
  bool force = false;
  std::vector<std::string> logs;
  std::string within;  ///< the time that the command may take; empty: any
  /// When the command began.
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::string resume;
  std::string out;
  double rank_deadline = 10;
  std::string reduce = "tree";
  bool json = false;
  bool quiet = false;  ///< nothing is shown of a training that goes well
  /// Text of the configuration with which a run was started, no argument; empty: read the file.
  std::string configuration;
  std::shared_ptr<KeptTask> kept = {};  ///< of other trainings on the same data
};

void add_train_options(CLI::App& command, TrainOptions& options);

/// Returns what was given to a parsed command, but for where it trains and what it prints.
RunStart start_of(const CLI::App& command, const std::string& configuration);

/// Returns the arguments of a run as it was started, replaced by those given now. Throws Error for
/// a record whose arguments `linnet train` does not take.
TrainOptions continued_options(const RunStart& started, const RunStart& now,
                               const TrainOptions& given);

/// Returns the training that the arguments describe.
Job job_of(const TrainOptions& options);

}  // namespace linnet::command
