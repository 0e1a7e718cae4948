// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/datasets.h>
#include <linnet/model.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/given.h"
#include "config/images.h"
#include "report/saved_run.h"

namespace linnet::command {

/// Which data with targets a saved run gets, as arguments say it.
struct RunDataOptions {
  GivenOptions given;
  std::string data;
  std::string text;
  std::string target;
  std::string sheet;
  bool force = false;  ///< leaves out rows of a table whose classes the model does not have
  Setting images = {SettingTable()};  ///< fields of image_flags()
  int threads = 0;
  std::optional<std::uint64_t> seed;
  std::optional<std::int32_t> ignore_index;
};

/// Declares --data, --text, --target, --sheet, --seed and how images are loaded.
void add_run_data_options(CLI::App& command, RunDataOptions& options);

struct RunData {
  Splits splits;
  std::vector<std::int64_t> row_numbers;  ///< of a table's rows in their file; empty: other data
};

/// Loads data as the run's training did: images of its size and channels, the same split, the same
/// words, rows by its transform. Prints notes. An --image-size becomes the model's sample shape.
RunData load_run_data(const RunDataOptions& options, const SavedRun& run, const Task& task,
                      Model& model);

}  // namespace linnet::command
