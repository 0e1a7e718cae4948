// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>

namespace linnet::command {

/// The bytes that all requests together may need. A request holds what it needs at most; those
/// that don't fit wait, the first one first.
class MemoryBudget {
 public:
  using Clock = std::chrono::steady_clock;

  /// `waiting`: how many may wait.
  MemoryBudget(std::size_t bytes, std::size_t waiting);

  /// Ends all waiting: requests that wait, and those that would, get Overloaded.
  void end();

  /// Holds bytes while it lives.
  class Held {
   public:
    /// Waits for `bytes`, at most those of the budget; for none it never waits. Throws Overloaded
    /// where they don't become free until `latest`, or too many wait already.
    Held(MemoryBudget& of, std::size_t bytes, Clock::time_point latest);
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() { keep(0); }

    /// Gives back what is beyond `bytes`.
    void keep(std::size_t bytes);

   private:
    MemoryBudget& of_;
    std::size_t bytes_;
  };

 private:
  const std::size_t bytes_;
  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t free_;
  bool ending_ = false;
  std::deque<const Held*> waiting_;  ///< in the order in which they came
};

}  // namespace linnet::command
