// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <fstream>
#include <string>
#include <system_error>

#include "base/check.h"

namespace linnet {
namespace {

constexpr std::uint32_t kTaskBits = 24;
constexpr std::uint64_t kTaskMask = (std::uint64_t{1} << kTaskBits) - 1;
constexpr std::uint64_t kClosed = ~std::uint64_t{0} & ~kTaskMask;  // no stage is open
// The last ticket of all. Late threads move closed tickets on by a few, so the same ones come
// again, and a sleeper that wakes between two of them sleeps on; this one none of them reaches.
constexpr std::uint64_t kEnded = kClosed | (kTaskMask / 2);
constexpr int kSpins = 4000;  // about 50 microseconds, longer than most stages last

std::uint64_t stage_of(std::uint64_t ticket) { return ticket >> kTaskBits; }
std::uint32_t task_of(std::uint64_t ticket) {
  return static_cast<std::uint32_t>(ticket & kTaskMask);
}
bool closed(std::uint64_t ticket) { return stage_of(ticket) == stage_of(kClosed); }

void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Keeps signal handlers off the calling thread. In oneDNN's sgemm (up to 3.11, its issue 4845) the
/// stack pointer may lie in a heap buffer, so that a handler's frame would destroy the heap.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t held;
    sigfillset(&held);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) {
      sigdelset(&held, fault);
    }
    pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

int available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof(set), &set) == 0) count = CPU_COUNT(&set);
  std::ifstream quota_file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (quota_file >> quota >> period && quota != "max" && period > 0) {
    count = std::min(count, static_cast<int>(std::ceil(std::stod(quota) / period)));
  }
  return std::max(count, 1);
}

ThreadTeam::ThreadTeam(int threads) : ticket_(kClosed) {
  require(threads >= 0 && threads <= 1024, "expected 0 to 1024 threads; got {}", threads);
  const int count = threads == 0 ? available_processors() : threads;
  try {
    for (int i = 1; i < count; ++i) workers_.emplace_back([this, i] { worker(i); });
  } catch (const std::system_error& error) {  // a limit on processes, or no memory for a stack
    const std::size_t started = workers_.size() + 1;
    stop();
    fail("only {} of {} threads could be started: {}", started, count, error.code().message());
  }
}

ThreadTeam::~ThreadTeam() { stop(); }

void ThreadTeam::stop() {
  stopping_.store(true);
  publish(kEnded);
  for (std::thread& thread : workers_) thread.join();
}

void ThreadTeam::run(StagedWork& work) {
  const SignalsHeld held;
  if (workers_.empty()) {
    for (std::uint64_t stage = 0; stage < work.stages(); ++stage) {
      for (std::uint32_t task = 0; task < work.tasks(stage); ++task) work.run(stage, task, 0);
    }
    return;
  }
  const std::lock_guard lock(turn_);
  work_ = &work;
  const std::uint64_t first = open_stage(0);
  if (closed(first)) return;
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
    const std::uint64_t seen = ticket_.load();
    if (closed(seen)) {
      wait_for_change(seen);
      continue;
    }
    active_.fetch_add(1);  // run() does not return while anyone is active
    participate(thread);
    active_.fetch_sub(1);
  }
}

void ThreadTeam::participate(int thread) {
  while (true) {
    std::uint64_t seen = ticket_.load();
    if (closed(seen)) return;
    if (task_of(seen) >= work_->tasks(stage_of(seen))) {
      wait_for_change(seen);
      continue;
    }
    const std::uint64_t mine = ticket_.fetch_add(1);
    if (closed(mine)) return;
    const std::uint64_t stage = stage_of(mine);
    const std::uint32_t tasks = work_->tasks(stage);
    if (task_of(mine) >= tasks) continue;
    execute(stage, task_of(mine), thread);
    if (done_.fetch_add(1) + 1 == tasks) {
      done_.store(0);
      publish(open_stage(stage + 1));
    }
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
  return stage < stages && !failed_.load() ? stage << kTaskBits : kClosed;
}

void ThreadTeam::publish(std::uint64_t ticket) {
  ticket_.store(ticket);
  if (sleepers_.load() > 0) ticket_.notify_all();
}

void ThreadTeam::wait_for_change(std::uint64_t seen) {
  const std::uint64_t stage = stage_of(seen);
  for (int spin = 0; spin < kSpins; ++spin) {
    if (stage_of(ticket_.load(std::memory_order_relaxed)) != stage || stopping_.load()) return;
    pause_processor();
  }
  sleepers_.fetch_add(1);
  std::uint64_t now = ticket_.load();
  while (stage_of(now) == stage && !stopping_.load()) {
    ticket_.wait(now);
    now = ticket_.load();
  }
  sleepers_.fetch_sub(1);
}

}  // namespace linnet
