// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "dist/rank_group.h"

namespace linnet {

/// Sums arrays of all ranks in a thread of its own, one after the other in the order in which they
/// come, so that this process computes meanwhile. From begin() to finish() nobody else may use the
/// group.
class BackgroundSum {
 public:
  /// The group must outlive it.
  explicit BackgroundSum(RankGroup& ranks);
  ~BackgroundSum();

  /// All ranks begin arrays of the same sizes in the same order; each stays where it is until
  /// finish(). Allocates next to nothing, and never waits for another rank.
  void begin(std::span<float> values, const std::string& name);
  /// Waits until all arrays hold their sums. Throws RankError of the first that does not, and the
  /// arrays after it are not summed either.
  void finish();

 private:
  struct Array {
    std::span<float> values;
    std::string name;
  };
  void work();

  RankGroup& ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Array> waiting_;  ///< the first of them is being summed
  std::exception_ptr error_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace linnet
