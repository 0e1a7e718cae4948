// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <csignal>

namespace linnet {

/// The polite ends of a process: Ctrl-C, the system's request, the end of the session.
#ifdef _WIN32
inline constexpr std::array<int, 3> kEndSignals{SIGINT, SIGTERM, SIGBREAK};
#else
inline constexpr std::array<int, 3> kEndSignals{SIGINT, SIGTERM, SIGHUP};
#endif

/// Which of these signals come to a handler; 0 in place of those that stay ignored.
using CaughtSignals = std::array<volatile std::sig_atomic_t, kEndSignals.size()>;

/// While it lives, end signals call `handler`, the second time the system's own, and the reader of
/// a pipe that has gone away does not end the process. Signals that the parent ignored stay
/// ignored: nohup, a job in the background.
class EndSignals {
 public:
  EndSignals(void (*handler)(int), CaughtSignals& caught);
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

 private:
#ifdef _WIN32
  std::array<void (*)(int), kEndSignals.size()> before_{};
#else
  std::array<struct sigaction, kEndSignals.size() + 1> before_{};
#endif
};

}  // namespace linnet
