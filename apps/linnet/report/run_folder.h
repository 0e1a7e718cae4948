// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/folder_lock.h"

namespace linnet::command {

inline constexpr const char* kModelFile = "model.safetensors";
inline constexpr const char* kSummaryFile = "summary.json";
inline constexpr const char* kHistoryFile = "history.jsonl";
inline constexpr const char* kProgressFile = "progress.json";
inline constexpr const char* kStartFile = "run.json";
inline constexpr const char* kVocabularyFile = "vocabulary.txt";

/// The folder that one training leaves: model.safetensors, history.jsonl (a line an epoch),
/// summary.json, metrics.json, report.html, run.json (how it was started), checkpoints, and for
/// texts vocabulary.txt (a word a line, by rank).
class RunFolder {
 public:
  /// `wanted`, or where it is empty runs/<name>-<time>, made on the spot and claimed for this
  /// process as long as the object lives. Throws Error where it cannot be made or written into,
  /// where another training is at work in it, and where it holds a run already: nothing is ever
  /// overwritten. Temporary files of trainings that were killed are removed, in the default's place
  /// those of all runs there.
  RunFolder(const std::filesystem::path& wanted, const std::string& name);
  /// Claims the folder of a run that was stopped, to continue it. Throws Error where it is missing
  /// or another training is at work in it.
  explicit RunFolder(const std::filesystem::path& stopped);
  /// Removes the folders again that this object made, as far as nothing but run.json was written
  /// into them.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path model() const { return path_ / kModelFile; }
  std::filesystem::path history() const { return path_ / kHistoryFile; }
  /// Exists while the training runs.
  std::filesystem::path progress() const { return path_ / kProgressFile; }
  std::filesystem::path summary() const { return path_ / kSummaryFile; }
  std::filesystem::path metrics() const { return path_ / "metrics.json"; }
  std::filesystem::path report() const { return path_ / "report.html"; }
  std::filesystem::path start() const { return path_ / kStartFile; }
  std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  std::filesystem::path vocabulary() const { return path_ / kVocabularyFile; }

  /// Returns what the destructor removes while nothing was saved: the lock file, run.json, then
  /// folders.
  std::vector<std::filesystem::path> removable() const;

 private:
  std::filesystem::path path_;
  bool continued_ = false;
  std::vector<std::filesystem::path> made_;  ///< folders that were not there, outermost first
  std::optional<FolderLock> lock_;
};

}  // namespace linnet::command
