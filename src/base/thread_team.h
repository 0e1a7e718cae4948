// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace linnet {

/// Work cut into stages that follow each other; the tasks of one stage may run at the same time.
class StagedWork {
 public:
  virtual ~StagedWork() = default;
  virtual std::uint64_t stages() const = 0;
  virtual std::uint32_t tasks(std::uint64_t stage) const = 0;
  /// `thread` is in [0, ThreadTeam::threads()).
  virtual void run(std::uint64_t stage, std::uint32_t task, int thread) = 0;
};

/// A team of threads that goes through staged work in one parallel region.
///
/// A stage ends when its last task is done, not when every thread has arrived: a thread that the
/// system has put aside delays nobody unless it holds a task. Waiting threads spin briefly, then
/// sleep. Tasks are fixed by the work, so results don't depend on the number of threads.
class ThreadTeam {
 public:
  /// `threads` counts the caller; 0 means all processors this process may use. Throws Error where
  /// the system refuses to start that many.
  explicit ThreadTeam(int threads = 0);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }
  /// Runs all stages and returns; rethrows the first exception of a task (the others are skipped).
  /// One call at a time: callers take turns, but for a team of one thread, where each runs its own
  /// work as thread 0. Signals of the process wait until the work is done.
  void run(StagedWork& work);

 private:
  void stop();
  void worker(int thread);
  void participate(int thread);
  void execute(std::uint64_t stage, std::uint32_t task, int thread);
  void publish(std::uint64_t ticket);
  void wait_for_change(std::uint64_t seen);
  /// The ticket of the first stage at or after `stage` that has a task.
  std::uint64_t open_stage(std::uint64_t stage) const;

  std::vector<std::thread> workers_;
  std::mutex turn_;
  StagedWork* work_ = nullptr;
  alignas(64) std::atomic<std::uint64_t> ticket_;  // stage in the high bits, next task in the low
  alignas(64) std::atomic<std::uint32_t> done_{0};
  alignas(64) std::atomic<int> active_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

/// Processors that this process may use: the affinity mask, cut by the cgroup's CPU quota.
int available_processors();

}  // namespace linnet
