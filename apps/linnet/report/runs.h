// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/json.h"

namespace linnet::command {

/// Returns the run folders among `paths` and right inside them, by path. Throws Error for a path
/// that is not a folder or cannot be read, and if there is no run. Adds to `problems` a sentence
/// for each folder inside them that cannot be read.
std::vector<std::filesystem::path> find_runs(const std::vector<std::filesystem::path>& paths,
                                             std::vector<std::string>& problems);

/// Returns a run as a page or a table shows it: name, path, state ("running", "done",
/// "interrupted", "stopped"), what summary.json says of it, its epochs, and while it runs its
/// progress. Lines that cannot be read are skipped, since another process may be writing them;
/// "problems" has a sentence for each file that cannot be read.
Json run_json(const std::filesystem::path& folder);

/// Returns one line a run: the last and the best epoch, speed and size.
std::string runs_table(const std::vector<Json>& runs);

/// Writes the progress of a running epoch to RunFolder::progress(). Best effort, not brought to the
/// disk.
void write_progress(const std::filesystem::path& file, const Json& progress);

}  // namespace linnet::command
