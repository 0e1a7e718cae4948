// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "base/check.h"
#include "base/signals_held.h"

namespace linnet {
namespace {

constexpr std::uint64_t kClosed = ~std::uint64_t{0};  // no stage is open
constexpr std::uint64_t kEnded = kClosed - 1;         // nor ever will be
constexpr int kSpins = 4000;  // about 50 microseconds, longer than most stages last

bool closed(std::uint64_t stage) { return stage >= kEnded; }

/// A Part's number: of a stage and of the tasks taken. 0 is before all stages.
constexpr std::uint32_t kTaskBits = 24;
std::uint64_t none_taken(std::uint64_t stage) { return (stage + 1) << kTaskBits; }
std::uint32_t taken_of(std::uint64_t number) {
  return static_cast<std::uint32_t>(number & ((std::uint64_t{1} << kTaskBits) - 1));
}

void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

ThreadTeam::ThreadTeam(int threads) : stage_(kClosed) {
  require(threads >= 0 && threads <= 1024, "expected 0 to 1024 threads; got {}", threads);
  const int count = threads == 0 ? available_processors() : threads;
  parts_ = std::vector<Part>(static_cast<std::size_t>(count));
  try {
    for (int i = 1; i < count; ++i) workers_.emplace_back([this, i] { worker(i); });
  } catch (const std::system_error& error) {  // a limit on processes, or no memory for a stack
    const std::size_t started = workers_.size() + 1;
    stop();
    fail("only {} of {} threads started: {}", started, count, error.code().message());
  }
}

ThreadTeam::~ThreadTeam() { stop(); }

void ThreadTeam::stop() {
  stopping_.store(true);
  publish(kEnded);
  for (std::thread& thread : workers_) thread.join();
}

void ThreadTeam::run(StagedWork& work, Signals signals) {
  std::optional<SignalsHeld> held;
  if (signals == Signals::held) held.emplace();
  if (workers_.empty()) {
    for (std::uint64_t stage = 0; stage < work.stages(); ++stage) {
      for (std::uint32_t task = 0; task < work.tasks(stage); ++task) work.run(stage, task, 0);
    }
    return;
  }
  const std::lock_guard lock(turn_);
  work_ = &work;
  // While stages have one task, nobody else is worth waking.
  std::uint64_t first = open_stage(0);
  for (; !closed(first) && work.tasks(first) == 1; first = open_stage(first + 1)) {
    work.run(first, 0, 0);
  }
  if (closed(first)) return;
  for (Part& part : parts_) part.taken.store(0);
  publish(first);
  active_.fetch_add(1);
  participate(0);
  active_.fetch_sub(1);
  while (active_.load() != 0) pause_processor();
  if (failed_.exchange(false)) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadTeam::worker(int thread) {
  const SignalsHeld held;
  while (!stopping_.load()) {
    const std::uint64_t stage = stage_.load();
    if (closed(stage)) {
      wait_for_change(stage);
      continue;
    }
    active_.fetch_add(1);  // run() does not return while anyone is active
    participate(thread);
    active_.fetch_sub(1);
  }
}

void ThreadTeam::participate(int thread) {
  while (true) {
    const std::uint64_t stage = stage_.load();
    if (closed(stage)) return;
    take_tasks(stage, thread);
    wait_for_change(stage);
  }
}

void ThreadTeam::take_tasks(std::uint64_t stage, int thread) {
  for (int i = 0; i < threads(); ++i) {
    const int part = (thread + i) % threads();
    while (true) {
      const std::int64_t task = claim(stage, part);
      if (task < 0) break;
      execute(stage, static_cast<std::uint32_t>(task), thread);
      if (done_.fetch_add(1) + 1 == work_->tasks(stage)) {
        done_.store(0);
        publish(open_stage(stage + 1));
        return;
      }
    }
  }
}

std::int64_t ThreadTeam::claim(std::uint64_t stage, int part) {
  const std::int64_t tasks = work_->tasks(stage);
  const std::int64_t begin = tasks * part / threads();
  const std::int64_t size = tasks * (part + 1) / threads() - begin;
  if (size == 0) return -1;
  std::atomic<std::uint64_t>& taken = parts_[static_cast<std::size_t>(part)].taken;
  std::uint64_t number = taken.load();
  while (true) {
    const std::uint64_t current = std::max(number, none_taken(stage));
    if (current >= none_taken(stage + 1) || taken_of(current) >= size) return -1;
    if (taken.compare_exchange_weak(number, current + 1)) return begin + taken_of(current);
  }
}

void ThreadTeam::execute(std::uint64_t stage, std::uint32_t task, int thread) {
  if (failed_.load()) return;
  try {
    work_->run(stage, task, thread);
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (!failed_.exchange(true)) failure_ = std::current_exception();
  }
}

std::uint64_t ThreadTeam::open_stage(std::uint64_t stage) const {
  const std::uint64_t stages = work_->stages();
  while (stage < stages && work_->tasks(stage) == 0) ++stage;
  return stage < stages && !failed_.load() ? stage : kClosed;
}

void ThreadTeam::publish(std::uint64_t stage) {
  stage_.store(stage);
  if (sleepers_.load() > 0) stage_.notify_all();
}

void ThreadTeam::wait_for_change(std::uint64_t stage) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (stage_.load(std::memory_order_relaxed) != stage || stopping_.load()) return;
    pause_processor();
  }
  sleepers_.fetch_add(1);
  while (stage_.load() == stage && !stopping_.load()) stage_.wait(stage);
  sleepers_.fetch_sub(1);
}

}  // namespace linnet
