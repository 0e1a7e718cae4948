// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace linnet::command {

/// Describes how a run was started, run.json: what `linnet train --resume` needs to start it again.
struct RunStart {
  /// The arguments that were given, by option ("--batch", "CONFIG"), with their values; a flag has
  /// none.
  std::map<std::string, std::vector<std::string>> options = {};
  std::string configuration = {};  ///< text of the configuration file; empty: a workload
};

/// Writes run.json.
void write_run_start(const std::filesystem::path& file, const RunStart& start);
/// Throws DataError for a file that is missing or damaged.
RunStart read_run_start(const std::filesystem::path& file);

}  // namespace linnet::command
