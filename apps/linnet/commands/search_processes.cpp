// SPDX-License-Identifier: Apache-2.0
#include "commands/search_processes.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <vector>

#include "base/check.h"
#include "commands/commands.h"
#include "commands/rank_processes.h"

namespace linnet::command {
namespace {

constexpr std::size_t kMostSaid = 4000;  // bytes of a failure, which a pipe takes at once

struct Training {
  pid_t process = -1;  ///< below 0: not running
  int said = -1;       ///< end of the pipe on which it says why it failed
  bool done = false;
  std::string failure = {};
};

/// Becomes a training's process.
[[noreturn]] void be_training(const SideBySide& work, std::size_t i, int say, const sigset_t& mask,
                              pid_t parent) {
  ::setpgid(0, 0);  // a terminal's Ctrl-C comes once, from the parent
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kInternalError);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  int status = kSuccess;
  try {
    status = work.train(i);
  } catch (const std::exception& error) {
    const std::string failure = std::string(error.what()).substr(0, kMostSaid);
    [[maybe_unused]] const ssize_t written = ::write(say, failure.data(), failure.size());
  }
  std::fflush(nullptr);
  ::_exit(status);
}

Training start_training(const SideBySide& work, std::size_t i, const sigset_t& mask) {
  std::array<int, 2> pipe{};
  require(::pipe(pipe.data()) == 0, "cannot start a training: {}", std::strerror(errno));
  std::fflush(nullptr);  // what is not written yet would be written twice
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process == 0) be_training(work, i, pipe[1], mask, parent);
  ::close(pipe[1]);
  require(process > 0, "cannot start a training: {}", std::strerror(errno));
  return {.process = process, .said = pipe[0]};
}

/// Notes how a training has ended; returns whether a signal to the command has ended it.
bool end_training(Training& training, int status) {
  training.process = -1;
  training.done = true;
  std::array<char, kMostSaid> text{};
  const ssize_t read = ::read(training.said, text.data(), text.size());
  ::close(training.said);
  if (read > 0) training.failure.assign(text.data(), static_cast<std::size_t>(read));
  if (WIFSIGNALED(status)) {
    training.failure = fmt::format("its process was ended by signal {} ({})", WTERMSIG(status),
                                   ::strsignal(WTERMSIG(status)));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == kInterrupted;
}

}  // namespace

bool can_run_side_by_side() { return true; }

bool run_side_by_side(const SideBySide& work) {
  const LaunchSignals signals;
  std::vector<Training> all(work.count);
  std::size_t next = 0;
  std::size_t told = 0;
  std::size_t running = 0;
  bool interrupted = false;
  while (running > 0 || (next < work.count && !interrupted)) {
    while (running < work.at_once && next < work.count && !interrupted) {
      all[next] = start_training(work, next, signals.before());
      ++next;
      ++running;
    }
    const std::optional<int> signal = signals.next();
    const bool passed_on = signal && *signal != SIGCHLD && *signal != SIGTSTP;
    interrupted = interrupted || passed_on;
    for (Training& training : all) {
      if (training.process < 0) continue;
      if (passed_on) ::kill(training.process, *signal);
      int status = 0;
      if (::waitpid(training.process, &status, WNOHANG) != training.process) continue;
      interrupted = end_training(training, status) || interrupted;
      --running;
    }
    while (!interrupted && told < work.count && all[told].done) {
      work.ended(told, all[told].failure);
      ++told;
    }
  }
  return !interrupted;
}

}  // namespace linnet::command
