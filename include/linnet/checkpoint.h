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
  proceed,  ///< trains on; Callback::on_checkpoint() and History::notes report the Error
};

/// Says when Trainer::fit() writes checkpoints, and whether it continues from one. A checkpoint
/// holds all that the fit needs: weights, moments, averages, the place in the epoch, metrics so
/// far, early stopping, the best weights. A fit that was killed at any instant and continued gives
/// the bits of one that was never stopped, at any number of threads.
///
/// A checkpoint is written beside its place, brought to the disk, renamed, and its folder is
/// brought to the disk; only then are older ones removed. Its checksum finds a damage of any byte.
struct Checkpoints {
  /// Folder of the checkpoints, made with the first one; empty: none are written. It belongs to one
  /// fit at a time.
  std::filesystem::path folder = {};
  /// Writes one after each epoch. Without it, and with 0 in the next two, one is written when the
  /// fit ends or a callback stops it.
  bool every_epoch = true;
  std::int64_t every_steps = 0;  ///< writes one after so many steps, at least 0; 0: not by steps
  /// Writes one when so much time has passed since the last one, at least 0; 0: not by time.
  double every_seconds = 600;
  /// Newest checkpoints that stay, at least 1. That of the epoch whose watched number was the best
  /// (FitOptions::watch) stays too.
  std::int64_t keep = 2;
  OnFailedSave on_failed_save = OnFailedSave::stop;  ///< what happens when one cannot be written
  /// Continues from the newest undamaged checkpoint of the folder; begins where there is none.
  /// Throws Error for a checkpoint of a fit with other options, data, network or device, naming the
  /// difference, and where all checkpoints are damaged. False: a folder that holds checkpoints is
  /// refused.
  bool resume = false;
};

/// Holds a checkpoint that was read from a folder.
struct SavedCheckpoint {
  std::filesystem::path file;  ///< file that it was read from
  /// What Trainer::load_state() takes; the next fit() then continues the fit that wrote it.
  State state;
  /// A sentence for each newer checkpoint that was passed over because it is damaged.
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
