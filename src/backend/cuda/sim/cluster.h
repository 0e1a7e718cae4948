// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <vector>

#include "backend/cuda/sim/block.h"

namespace linnet::cuda::sim {

/// Gives the blocks of a cluster turns: one runs until it waits for the others or ends, so that one
/// simulated thread runs at a time, here too.
class ClusterTurns {
 public:
  ClusterTurns(unsigned blocks, std::uint64_t shuffle_seed);
  /// Waits for the first turn of block `number`; false where another one has failed.
  bool begin(unsigned number);
  /// Waits until all blocks that have not ended are here; false where another one has failed.
  bool wait(unsigned number);
  /// Ends the block. After a failure no other one goes on.
  void end(unsigned number, bool failed);
  int first_failed() const { return failed_; }  ///< a block's number, or -1; after all have ended

 private:
  enum class State : std::uint8_t { kReady, kWaiting, kEnded };
  void pass();
  bool take(std::unique_lock<std::mutex>& lock, unsigned number);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<State> states_;
  bool shuffling_;
  std::mt19937_64 random_;
  unsigned turn_ = 0;
  int failed_ = -1;
};

/// Runs a launch whose blocks wait for others: `cluster` neighbours along y. Throws as launch()
/// does.
void run_clusters(const Grid& grid, unsigned cluster);

}  // namespace linnet::cuda::sim
