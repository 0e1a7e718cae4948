// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/end_signals.h"

namespace linnet::command {

/// While it lives, Ctrl-C (SIGINT) and the polite ends of a session (kEndSignals) do what fits
/// the phase that a training is in; the second one finds the system's own handler and kills. A
/// reader of the progress that has gone away (SIGPIPE) does not end it. One at a time.
class InterruptGuard {
 public:
  /// Phase 1, nothing to save yet: a signal removes `removable` (files and empty folders, in their
  /// order) and ends the process with kInterrupted.
  /// continued: the run has been trained before, and the message says so.
  explicit InterruptGuard(const std::vector<std::filesystem::path>& removable,
                          bool continued = false);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Phase 2: a signal is heard by requested().
  void training();
  /// Phase 3, all is saved: a signal says at once that another one ends the process; so does one
  /// that came too late for the training to hear it.
  void reporting(bool heard);
  static bool requested();

 private:
  std::vector<std::string> removable_;
  std::optional<EndSignals> signals_;  ///< after what the handler needs
};

}  // namespace linnet::command
