// SPDX-License-Identifier: Apache-2.0
#include "commands/rank_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fstream>

#include "base/check.h"
#include "commands/launch.h"
#include "dist/sockets.h"

namespace linnet::command {
namespace {

using namespace std::chrono_literals;

// After one has failed, the others see it by themselves; then they are asked, then killed.
constexpr auto kGrace = 3s;
constexpr std::array<int, 3> kPassedOn{SIGINT, SIGTERM, SIGHUP};

struct RankProcess {
  int rank = 0;
  pid_t process = -1;
  std::filesystem::path log;  ///< empty: the launcher's own output
  bool running = false;
  bool asked = false;    ///< whether the launcher has ended it
  bool stopped = false;  ///< by a signal, when it was asked
  int status = 0;        ///< as waitpid gives it

  bool failed() const { return !running && !asked && status != 0; }
  bool killed() const { return failed() && WIFSIGNALED(status); }
  int exit_status() const { return WIFEXITED(status) ? WEXITSTATUS(status) : kLostRank; }
};

/// Processors of rank `rank`: its part of those that the launcher may use.
cpu_set_t part_of_processors(int rank, int ranks) {
  cpu_set_t all;
  cpu_set_t part;
  CPU_ZERO(&all);
  CPU_ZERO(&part);
  if (sched_getaffinity(0, sizeof all, &all) != 0) return part;
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &all)) processors.push_back(i);
  }
  const int count = static_cast<int>(processors.size());
  const int begin = ranks <= count ? rank * count / ranks : rank % count;
  const int end = ranks <= count ? (rank + 1) * count / ranks : begin + 1;
  for (int i = begin; i < end; ++i) CPU_SET(processors[static_cast<std::size_t>(i)], &part);
  return part;
}

std::vector<std::string> environment_of(int rank, int ranks, int port) {
  const std::vector<std::pair<std::string, std::string>> set{
      {"RANK", std::to_string(rank)},        {"LOCAL_RANK", std::to_string(rank)},
      {"WORLD_SIZE", std::to_string(ranks)}, {"LOCAL_WORLD_SIZE", std::to_string(ranks)},
      {"MASTER_ADDR", "127.0.0.1"},          {"MASTER_PORT", std::to_string(port)},
  };
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string entry = *at;
    const bool replaced = std::any_of(set.begin(), set.end(), [&](const auto& variable) {
      return entry.starts_with(variable.first + "=");
    });
    if (!replaced) all.push_back(entry);
  }
  for (const auto& [name, value] : set) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Between fork and exec only what a signal handler may call.
[[noreturn]] void become(char** arguments, char** environment, const char* log,
                         const cpu_set_t& processors, const sigset_t& mask, pid_t launcher) {
  ::setpgid(0, 0);  // a terminal's Ctrl-C comes once, from the launcher
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(kInternalError);
  if (CPU_COUNT(&processors) > 0) sched_setaffinity(0, sizeof processors, &processors);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  if (log != nullptr) {
    const int file = ::open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
  }
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execve(arguments[0], arguments, environment);
  static constexpr std::string_view kFailed = "linnet: the program of a rank cannot be started\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kFailed.data(), kFailed.size());
  ::_exit(127);
}

RankProcess start(const RankCommand& command, int rank, int port, const sigset_t& mask) {
  RankProcess started;
  started.rank = rank;
  if (rank > 0) started.log = command.logs / fmt::format("rank-{}.log", rank);
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_of(rank, command.ranks, port);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  const std::string log = started.log.string();
  const cpu_set_t processors = part_of_processors(rank, command.ranks);
  const pid_t launcher = ::getpid();
  started.process = ::fork();
  if (started.process == 0) {
    become(const_cast<char**>(argument_pointers.data()),
           const_cast<char**>(environment_pointers.data()), log.empty() ? nullptr : log.c_str(),
           processors, mask, launcher);
  }
  require(started.process > 0, "cannot start rank {}: {}", rank, std::strerror(errno));
  started.running = true;
  return started;
}

/// Returns whether a signal has stopped a process, as its line in /proc says.
bool is_stopped(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  const std::size_t name = line.rfind(") ");
  return name != std::string::npos && name + 2 < line.size() && line[name + 2] == 'T';
}

std::string last_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

std::string how(const RankProcess& process) {
  if (WIFSIGNALED(process.status)) {
    return fmt::format("rank {} was ended by signal {} ({})", process.rank,
                       WTERMSIG(process.status), ::strsignal(WTERMSIG(process.status)));
  }
  std::string text =
      fmt::format("rank {} ended with exit status {}", process.rank, process.exit_status());
  if (process.log.empty()) return text;
  const std::string line = last_line(process.log);
  return line.empty() ? text : fmt::format("{}: {}", text, line);
}

/// Says which rank ended the job: one that died, then one that failed of itself, then one that was
/// stopped, so that all others gave it up.
JobEnd explain(const std::vector<RankProcess>& processes) {
  const auto first = [&](const auto& is) {
    const auto found = std::find_if(processes.begin(), processes.end(), is);
    return found == processes.end() ? nullptr : &*found;
  };
  const RankProcess* culprit = first([](const RankProcess& p) { return p.killed(); });
  if (culprit == nullptr) {
    culprit =
        first([](const RankProcess& p) { return p.failed() && p.exit_status() != kLostRank; });
  }
  if (culprit != nullptr) {
    return {.status = culprit->exit_status(), .interrupted = false, .sentence = how(*culprit)};
  }
  const RankProcess* lost = first([](const RankProcess& p) { return p.failed(); });
  if (lost == nullptr) return {};
  culprit = first([](const RankProcess& p) { return p.stopped; });
  std::string sentence = culprit != nullptr
                             ? fmt::format("rank {} was stopped by a signal", culprit->rank)
                             : how(*lost);
  return {.status = kLostRank, .interrupted = false, .sentence = std::move(sentence)};
}

/// Collects those that have ended; returns whether any still runs.
bool collect(std::vector<RankProcess>& processes) {
  bool running = false;
  for (RankProcess& process : processes) {
    if (!process.running) continue;
    if (::waitpid(process.process, &process.status, WNOHANG) == process.process) {
      process.running = false;
    }
    running = running || process.running;
  }
  return running;
}

void send(const std::vector<RankProcess>& processes, int signal) {
  for (const RankProcess& process : processes) {
    if (process.running) ::kill(process.process, signal);
  }
}

}  // namespace

LaunchSignals::LaunchSignals() {
  sigemptyset(&waited_);
  sigaddset(&waited_, SIGCHLD);
  sigaddset(&waited_, SIGTSTP);
  for (const int signal : kPassedOn) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&waited_, signal);  // as under nohup
  }
  sigprocmask(SIG_BLOCK, &waited_, &before_);
}

LaunchSignals::~LaunchSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

std::optional<int> LaunchSignals::next(double seconds) const {
  const timespec time{0, static_cast<long>(seconds * 1e9)};
  const int signal = sigtimedwait(&waited_, nullptr, &time);
  return signal > 0 ? std::optional<int>(signal) : std::nullopt;
}

JobEnd run_ranks(const RankCommand& command, const LaunchSignals& signals) {
  const int port = listen_on("127.0.0.1", 0).port();  // free now, and not given again soon
  std::vector<RankProcess> processes;
  for (int rank = 0; rank < command.ranks; ++rank) {
    processes.push_back(start(command, rank, port, signals.before()));
  }
  bool interrupted = false;
  std::optional<Clock::time_point> failed;
  int asked = 0;
  while (collect(processes)) {
    if (const std::optional<int> signal = signals.next()) {
      if (*signal == SIGTSTP) {
        send(processes, SIGSTOP);
        ::raise(SIGSTOP);
        send(processes, SIGCONT);
      } else if (*signal != SIGCHLD) {
        interrupted = true;
        send(processes, *signal);
      }
    }
    const bool any_failed = std::any_of(processes.begin(), processes.end(),
                                        [](const RankProcess& p) { return p.failed(); });
    if (!any_failed) continue;
    if (!failed) failed = Clock::now();
    if (Clock::now() - *failed < (asked + 1) * kGrace || asked == 2) continue;
    for (RankProcess& process : processes) {
      if (!process.running) continue;
      process.stopped = process.stopped || is_stopped(process.process);
      process.asked = true;
      ::kill(process.process, asked == 0 && !process.stopped ? SIGTERM : SIGKILL);
    }
    ++asked;
  }
  JobEnd end = explain(processes);
  end.interrupted = interrupted;
  if (interrupted) end.status = processes.front().exit_status();
  return end;
}

}  // namespace linnet::command
