// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>
#include <linnet/checkpoint.h>
#include <linnet/state.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "train/checkpoint_writer.h"

namespace linnet {

/// Keeps the newest checkpoint of each member of a fleet, and writes those of all members as one
/// file: each at its own place, since members don't wait for each other.
class FleetCheckpoints {
 public:
  /// Told of each file, also of one that could not be written.
  using OnFile = std::function<void(const CheckpointReport&)>;

  /// identity: says in what members differ, so that another fleet's checkpoint is refused.
  FleetCheckpoints(const Checkpoints& options, std::string identity, std::size_t members,
                   OnFile on_file);

  bool enabled() const { return writer_.enabled(); }
  /// Opens the folder. Returns what each member continues, nothing where the fit is new. Throws
  /// Error where the folder holds checkpoints of another fit.
  std::vector<SavedCheckpoint> open();
  /// Returns the sentence that take_failure() kept, of what a member continues; empty: it had not
  /// failed. Throws DataError where it is not a text.
  static std::string failure_in(const SavedCheckpoint& member);
  /// Keeps a member's checkpoint, and writes the file if it is due. Returns the member's place.
  CheckpointReport take(std::size_t member, const State& state, std::int64_t epoch,
                        std::uint64_t steps, bool by_time);
  /// Keeps that a member had failed before the fit.
  void take_failure(std::size_t member, const std::string& sentence);
  /// Begins to write files: each member's place is known.
  void begin();
  /// Notes that a member takes no further steps.
  void end_member();
  /// Writes what was taken since the last file.
  void finish();
  /// Sentences on damaged files, and on those that could not be written.
  std::vector<std::string> notes() const;

 private:
  /// The newest checkpoint of a member.
  struct Part {
    State state;
    std::int64_t epoch = -1;  ///< below 0: the member has failed
    std::uint64_t steps = 0;
  };
  void write();

  Checkpoints options_;
  CheckpointWriter writer_;
  std::string identity_;
  OnFile on_file_;
  std::mutex mutex_;
  std::vector<Part> parts_;  ///< by member
  std::size_t running_;      ///< members that may take further steps
  std::size_t taken_ = 0;    ///< checkpoints since the last file
  bool begun_ = false;
  std::vector<std::string> damaged_;
};

}  // namespace linnet
