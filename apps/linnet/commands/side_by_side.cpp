// SPDX-License-Identifier: Apache-2.0
#include "commands/side_by_side.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "backend/plugin/cuda_plugin.h"
#include "base/check.h"
#include "base/process.h"
#include "base/thread_team.h"
#include "commands/commands.h"
#include "commands/rank_processes.h"
#include "report/machine.h"

namespace linnet::command {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTick = 0.1;  // seconds between looks at the processes

struct Training {
  pid_t process = -1;  ///< below 0: not running
  int said = -1;       ///< memory that it writes to
  Clock::time_point begun = {};
  bool done = false;
  std::string text = {};
  std::string failure = {};

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun).count(); }
};

/// All trainings; those that still run end with it.
class Trainings {
 public:
  explicit Trainings(std::size_t count) : all_(count) {}
  ~Trainings() { kill(); }
  Trainings(const Trainings&) = delete;
  Trainings& operator=(const Trainings&) = delete;

  std::vector<Training>& all() { return all_; }
  void kill() {
    signal(SIGKILL);
    for (Training& training : all_) {
      if (training.process < 0) continue;
      ::waitpid(training.process, nullptr, 0);
      ::close(training.said);
      training.process = -1;
    }
  }
  void signal(int number) const {
    for (const Training& training : all_) {
      if (training.process > 0) ::kill(training.process, number);
    }
  }

 private:
  std::vector<Training> all_;
};

/// Becomes a training's process.
[[noreturn]] void be_training(const SideBySide& work, std::size_t i, int say, const sigset_t& mask,
                              pid_t parent) {
  ::setpgid(0, 0);  // a terminal's Ctrl-C comes once, from the parent
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kInternalError);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  int status = kSuccess;
  std::string said;
  try {
    status = work.train(i, said);
  } catch (const std::exception& error) {
    said = error.what();
    status = kInternalError;
  }
  const ssize_t written = ::write(say, said.data(), said.size());
  std::fflush(nullptr);
  ::_exit(written == std::ssize(said) ? status : kInternalError);
}

Training start_training(const SideBySide& work, std::size_t i, const sigset_t& mask) {
  const int said = ::memfd_create("linnet", MFD_CLOEXEC);
  require(said >= 0, "cannot start a training: {}", std::strerror(errno));
  std::fflush(nullptr);  // what is not written yet would be written twice
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) be_training(work, i, said, mask, parent);
  const int error = errno;
  if (process < 0) ::close(said);
  require(process > 0, "cannot start a training: {}", std::strerror(error));
  return {.process = process, .said = said, .begun = Clock::now()};
}

/// Notes how a training has ended; returns whether a signal to the command has ended it.
bool end_training(Training& training, int status) {
  training.process = -1;
  training.done = true;
  training.text.resize(
      static_cast<std::size_t>(std::max<off_t>(::lseek(training.said, 0, SEEK_END), 0)));
  const ssize_t read = ::pread(training.said, training.text.data(), training.text.size(), 0);
  training.text.resize(static_cast<std::size_t>(std::max<ssize_t>(read, 0)));
  ::close(training.said);
  if (WIFSIGNALED(status)) {
    training.failure = fmt::format("its process was ended by signal {} ({})", WTERMSIG(status),
                                   ::strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) == kInternalError) {
    training.failure = training.text;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == kInterrupted;
}

/// Returns whether another training would end in time, if it took as long as the longest one.
bool may_begin(const SideBySide& work, const std::vector<Training>& all) {
  if (work.limit == nullptr) return true;
  double longest = work.limit->longest;
  for (const Training& training : all) {
    if (training.process > 0) longest = std::max(longest, training.seconds());
  }
  work.limit->over = longest >= work.limit->left();
  return !work.limit->over;
}

}  // namespace

std::size_t most_side_by_side(const Job& job, std::size_t count) {
  const std::string& device = job.model.device;
  const bool on_cpu =
      device == "cpu" || (device == "auto" && !prefers_cuda(job.model.cuda.library));
  if (!on_cpu) return 0;
  if (!job.task->table()) return 1;
  const int threads = job.model.threads > 0 ? job.model.threads : available_processors();
  const std::size_t most = std::min(count, static_cast<std::size_t>(threads));
  const std::size_t free = free_bytes();  // 0: unknown
  return free == 0
             ? most
             : std::clamp<std::size_t>(free / std::max<std::size_t>(peak_bytes(), 1), 1, most);
}

bool run_side_by_side(const SideBySide& work) {
  const LaunchSignals signals;
  Trainings trainings(work.count);
  std::vector<Training>& all = trainings.all();
  std::size_t next = 0;
  std::size_t told = 0;
  std::size_t running = 0;
  bool interrupted = false;
  bool ends = false;  // no further one begins
  while (running > 0 || (next < work.count && !ends)) {
    while (running < work.at_once && next < work.count && !ends) {
      if (work.begin && !work.begin(next)) {
        all[next].done = true;
        ++next;
        continue;
      }
      ends = !may_begin(work, all);
      if (ends) break;
      all[next] = start_training(work, next, signals.before());
      ++next;
      ++running;
    }
    const double left = work.limit == nullptr ? kTick : work.limit->left();
    if (left <= 0 && running > 0) {
      work.limit->over = true;
      trainings.kill();
      break;
    }
    const std::optional<int> signal =
        running > 0 ? signals.next(std::min(left, kTick)) : std::nullopt;
    const bool passed_on = signal && *signal != SIGCHLD && *signal != SIGTSTP;
    if (passed_on) trainings.signal(*signal);
    interrupted = interrupted || passed_on;
    for (Training& training : all) {
      int status = 0;
      if (training.process < 0 || ::waitpid(training.process, &status, WNOHANG) <= 0) continue;
      interrupted = end_training(training, status) || interrupted;
      if (work.limit != nullptr) {
        work.limit->longest = std::max(work.limit->longest, training.seconds());
      }
      --running;
    }
    ends = ends || interrupted;
    for (; !interrupted && told < next && all[told].done; ++told) {
      work.ended(told, all[told].text, all[told].failure);
    }
  }
  if (work.limit != nullptr) work.limit->begun = next;
  return !interrupted;
}

}  // namespace linnet::command
