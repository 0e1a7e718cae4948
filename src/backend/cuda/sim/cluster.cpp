// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/sim/cluster.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

namespace linnet::cuda::sim {
namespace {

/// A thread that runs what it is given, and keeps its fibers from launch to launch.
class Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  ~Worker() {
    give({});
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void give(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
    given_ = true;
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !given_; });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return given_; });
      if (!task_) return;
      task_();
      given_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;
  bool given_ = false;
  std::thread thread_;
};

/// Returns the calling thread's workers, at least `count`: `__shared__` arrays are an OS thread's,
/// so every block of a cluster has one of its own.
std::vector<std::unique_ptr<Worker>>& workers(unsigned count) {
  static thread_local std::vector<std::unique_ptr<Worker>> all;
  while (all.size() < count) all.push_back(std::make_unique<Worker>());
  return all;
}

void run_cluster(const Grid& grid, uint3 first, unsigned cluster) {
  ClusterTurns turns(cluster, grid.shuffle_seed);
  std::vector<std::exception_ptr> errors(cluster);
  auto& all = workers(cluster);
  for (unsigned i = 0; i < cluster; ++i) {
    all[i]->give([&, i] {
      if (!turns.begin(i)) return;
      try {
        BlockRunner::current().run_in_cluster(grid, {first.x, first.y + i, first.z}, turns, i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
      turns.end(i, errors[i] != nullptr);
    });
  }
  for (unsigned i = 0; i < cluster; ++i) all[i]->wait();
  if (const int failed = turns.first_failed(); failed >= 0) {
    std::rethrow_exception(errors[static_cast<std::size_t>(failed)]);
  }
}

}  // namespace

ClusterTurns::ClusterTurns(unsigned blocks, std::uint64_t shuffle_seed)
    : states_(blocks, State::kReady), shuffling_(shuffle_seed != 0), random_(shuffle_seed) {
  pass();
}

/// Chooses who runs next; where all that have not ended wait, they go on.
void ClusterTurns::pass() {
  if (std::ranges::find(states_, State::kReady) == states_.end()) {
    std::ranges::replace(states_, State::kWaiting, State::kReady);
  }
  const auto count = static_cast<unsigned>(states_.size());
  const auto from = shuffling_ ? static_cast<unsigned>(random_() % count) : 0U;
  for (unsigned i = 0; i < count; ++i) {
    turn_ = (from + i) % count;
    if (states_[turn_] == State::kReady) break;
  }
  changed_.notify_all();
}

bool ClusterTurns::take(std::unique_lock<std::mutex>& lock, unsigned number) {
  changed_.wait(lock, [&] {
    return failed_ >= 0 || (turn_ == number && states_[number] == State::kReady);
  });
  return failed_ < 0;
}

bool ClusterTurns::begin(unsigned number) {
  std::unique_lock lock(mutex_);
  return take(lock, number);
}

bool ClusterTurns::wait(unsigned number) {
  std::unique_lock lock(mutex_);
  states_[number] = State::kWaiting;
  pass();
  return take(lock, number);
}

void ClusterTurns::end(unsigned number, bool failed) {
  const std::lock_guard lock(mutex_);
  states_[number] = State::kEnded;
  if (failed && failed_ < 0) failed_ = static_cast<int>(number);
  pass();
}

void run_clusters(const Grid& grid, unsigned cluster) {
  const std::uint64_t rows = grid.grid.y / cluster;
  const std::uint64_t clusters = rows * grid.grid.x * grid.grid.z;
  for (std::uint64_t i = 0; i < clusters; ++i) {
    const std::uint64_t index = (grid.shuffle_seed + i) % clusters;
    run_cluster(grid,
                {static_cast<unsigned>(index % grid.grid.x),
                 static_cast<unsigned>(index / grid.grid.x % rows) * cluster,
                 static_cast<unsigned>(index / grid.grid.x / rows)},
                cluster);
  }
}

}  // namespace linnet::cuda::sim
