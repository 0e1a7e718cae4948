// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/device.h"
#include "config/given.h"
#include "tasks/task.h"

namespace linnet::command {

/// Files of a finished training, as later commands name it: by its folder, or by the model file
/// alone, beside which the folder's other files may lie.
struct SavedRun {
  std::filesystem::path model;
  std::filesystem::path vocabulary;  ///< there for text models alone
  std::uint64_t seed = 0;            ///< of the training, 0 where summary.json does not tell
  /// Engines that its training with --tune has chosen, for ModelOptions::cpu; else empty.
  std::map<std::string, std::string> engine_choices = {};
  Shape sample_shape = {};  ///< of its data, () where summary.json does not tell

  /// Returns the words that have the ids from 3 on. Throws Error where the file is missing or
  /// damaged.
  std::vector<std::string> words() const;
  /// Returns an argument of its training, e.g. of "--text"; "" where it had none, or no record lies
  /// beside the model.
  std::string argument(const std::string& option) const;
  /// Does the same for an option that may have several.
  std::vector<std::string> arguments(const std::string& option) const;
};

/// Loads the run's model, with the engines of its training. Of a file that does not say what
/// samples it was trained on (of an older version), summary.json may.
Model load_model(const SavedRun& run, ModelOptions& options);

/// A run whose model is loaded.
struct LoadedRun {
  SavedRun files;
  ModelOptions on;  ///< as the command describes the device
  Model model;
  const Task& task;  ///< of the model
};

/// Loads a run's model as options say. Throws Error as find_run() does, and for options that do
/// nothing on the device.
LoadedRun load_run(const std::filesystem::path& path, const DeviceOptions& device, int threads,
                   const GivenOptions& given);

/// Throws Error for a folder without a model, and for a summary.json that is not as a training
/// writes it.
SavedRun find_run(const std::filesystem::path& path);

}  // namespace linnet::command
