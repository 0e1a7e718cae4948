// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "json.h"

namespace linnet::command {

/// The folder that one training leaves behind: model.safetensors, history.jsonl (a line an epoch),
/// summary.json and report.html.
class RunFolder {
 public:
  /// `wanted`, or where it is empty runs/<name>-<time>, made on the spot. Throws Error where it
  /// cannot be made or holds a run already: nothing is ever overwritten.
  RunFolder(const std::filesystem::path& wanted, const std::string& name);
  /// Removes the folders again that this object made, as far as nothing was written into them.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path model() const { return path_ / "model.safetensors"; }
  std::filesystem::path history() const { return path_ / "history.jsonl"; }
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path report() const { return path_ / "report.html"; }

  /// Adds a line to history.jsonl.
  void append_history(const Json& epoch);

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  ///< folders that were not there, outermost first
  std::optional<AppendFile> history_;
};

}  // namespace linnet::command
