// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace linnet::command {

/// Signals that the launcher waits for in place of being ended by them. One at a time.
class LaunchSignals {
 public:
  LaunchSignals();
  ~LaunchSignals();
  LaunchSignals(const LaunchSignals&) = delete;
  LaunchSignals& operator=(const LaunchSignals&) = delete;
  /// Returns the next signal, or nothing where none comes within `seconds`, which are below 1.
  std::optional<int> next(double seconds = 0.1) const;
  /// The mask that processes are started with.
  const sigset_t& before() const { return before_; }

 private:
  sigset_t waited_{};
  sigset_t before_{};
};

/// What every rank runs, and where its output goes.
struct RankCommand {
  std::vector<std::string> arguments;  ///< the program first
  int ranks = 1;
  std::filesystem::path logs;  ///< rank 2's output: rank-2.log; rank 0's is the launcher's
};

/// How a job of all ranks ended.
struct JobEnd {
  int status = 0;  ///< exit status
  bool interrupted = false;
  std::string sentence;  ///< which rank ended it, and how; empty: all ended as they should
};

/// Starts all ranks on this machine with torchrun's variables, passes signals on, and waits for
/// them. Where one dies, or is stopped, all are ended.
JobEnd run_ranks(const RankCommand& command, const LaunchSignals& signals);

}  // namespace linnet::command
