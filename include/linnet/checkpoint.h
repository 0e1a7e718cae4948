// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/state.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Says what a fit does when a checkpoint cannot be written, e.g. on a full disk.
enum class OnFailedSave : std::uint8_t {
  stop,     ///< ends the fit with the Error
  proceed,  ///< continues the training; Callback::on_checkpoint() and History::notes report the
            ///< Error
};

/// Says when Trainer::fit() writes checkpoints, and whether it continues from one. A checkpoint
/// holds all that the fit needs: weights, moments, averages, the position in the epoch, metrics so
/// far, early stopping, the best weights. A fit that is killed at any time and continued gives the
/// same bits as one that is never stopped, at any number of threads.
///
/// A checkpoint is written under another name, flushed to the disk and renamed, and its folder is
/// flushed; then older ones are removed. Its checksum detects damage of any byte.
struct Checkpoints {
  /// Folder of the checkpoints, made with the first one; empty: no checkpoints. It belongs to one
  /// fit at a time.
  std::filesystem::path folder = {};
  /// Writes one after each epoch. If false, and the next two fields are 0, one is written when the
  /// fit ends or a callback stops it.
  bool every_epoch = true;
  /// Writes one every `every_steps` steps, at least 0; 0: not by steps.
  std::int64_t every_steps = 0;
  /// Writes one when this many seconds have passed since the last one, at least 0; 0: not by time.
  double every_seconds = 600;
  /// Number of newest checkpoints to keep, at least 1. The checkpoint of the best epoch by
  /// FitOptions::watch is kept too.
  std::int64_t keep = 2;
  OnFailedSave on_failed_save = OnFailedSave::stop;  ///< what happens when one cannot be written
  /// Continues from the newest undamaged checkpoint of the folder; starts a new fit if there is
  /// none. Throws Error for a checkpoint of a fit with other options, data, network or device,
  /// naming the difference, and where all checkpoints are damaged. False: a folder that holds
  /// checkpoints is refused.
  bool resume = false;
};

/// Holds a checkpoint that was read from a folder.
struct SavedCheckpoint {
  std::filesystem::path file;  ///< file that it was read from
  /// State for Trainer::load_state(); the next fit() then continues the fit that wrote it.
  State state;
  /// A sentence for each newer checkpoint that was skipped because it is damaged.
  std::vector<std::string> damaged = {};
};

/// Returns the checkpoints of a folder, the newest first: checkpoint-000000000120.safetensors was
/// written after 120 steps. Returns none for a missing folder.
std::vector<std::filesystem::path> checkpoint_files(const std::filesystem::path& folder);

/// Reads the newest undamaged checkpoint of a folder. Throws DataError where it holds none, and
/// where all are damaged.
SavedCheckpoint read_checkpoint(const std::filesystem::path& folder);

/// Returns the engines that the fit of a checkpoint had chosen by measurement, for
/// CpuOptions::choices of the model that continues it. Empty without CpuOptions::tune.
std::map<std::string, std::string> engine_choices(const State& checkpoint);

}  // namespace linnet
LINNET_API_END
