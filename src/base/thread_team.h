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

/// Says what happens to signals while staged work runs. They may be delivered in work of our own
/// code alone: long work, such as the decoding of all images, could not be interrupted otherwise.
enum class Signals : std::uint8_t { held, delivered };

/// A team of threads that goes through staged work in one parallel region.
///
/// A stage ends when its last task is done, not when every thread has arrived: a thread that the
/// system has put aside delays nobody unless it holds a task. Waiting threads spin briefly, then
/// sleep. Every thread takes an equal part of a stage's tasks first, the same part in every stage
/// and run, so that it finds in its caches and its memory node what it wrote there; then others'.
/// Tasks are fixed by the work, so results don't depend on the number of threads.
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
  /// work as thread 0. Signals of the process wait until the work is done, or with
  /// Signals::delivered reach the caller in it.
  void run(StagedWork& work, Signals signals = Signals::held);

 private:
  void stop();
  void worker(int thread);
  void participate(int thread);
  void take_tasks(std::uint64_t stage, int thread);
  /// Returns the next task of a thread's part of a stage, which nobody else gets; -1 where all are
  /// taken, as those of a stage that has ended.
  std::int64_t claim(std::uint64_t stage, int part);
  void execute(std::uint64_t stage, std::uint32_t task, int thread);
  void publish(std::uint64_t stage);
  void wait_for_change(std::uint64_t stage);
  /// Returns the first stage at or after `stage` that has a task; closed if there is none.
  std::uint64_t open_stage(std::uint64_t stage) const;

  /// Describes how many tasks of a thread's part are taken, with the stage they belong to.
  struct alignas(64) Part {
    std::atomic<std::uint64_t> taken{0};
  };

  std::vector<std::thread> workers_;
  std::mutex turn_;
  StagedWork* work_ = nullptr;
  std::vector<Part> parts_;  ///< by thread
  alignas(64) std::atomic<std::uint64_t> stage_;
  alignas(64) std::atomic<std::uint32_t> done_{0};
  alignas(64) std::atomic<int> active_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> failed_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

/// Runs f(task) for tasks 0 to count - 1, in one stage of the team.
template <class F>
void run_tasks(ThreadTeam& team, std::uint32_t count, F f, Signals signals = Signals::held) {
  class Tasks final : public StagedWork {
   public:
    Tasks(std::uint32_t count, F& f) : count_(count), f_(f) {}
    std::uint64_t stages() const override { return 1; }
    std::uint32_t tasks(std::uint64_t /*stage*/) const override { return count_; }
    void run(std::uint64_t /*stage*/, std::uint32_t task, int /*thread*/) override { f_(task); }

   private:
    std::uint32_t count_;
    F& f_;
  };
  Tasks work(count, f);
  team.run(work, signals);
}

/// Processors that this process may use: the affinity mask, cut by the cgroup's CPU quota.
int available_processors();

}  // namespace linnet
