// SPDX-License-Identifier: Apache-2.0
#include "commands/interrupt.h"

#include <cerrno>
#include <csignal>
#include <string_view>

#include "base/file_calls.h"
#include "commands/commands.h"

namespace linnet::command {
namespace {

enum Phase : std::sig_atomic_t { kLoading, kTraining, kReporting };

// A handler can reach nothing but what is static.
volatile std::sig_atomic_t phase = kLoading;
volatile std::sig_atomic_t interrupted = 0;
const std::vector<std::string>* to_remove = nullptr;
volatile std::sig_atomic_t continues = 0;
CaughtSignals caught{};  // the signals that come here

constexpr std::string_view kNothing =
    "\nlinnet: interrupted before the first step; nothing is saved\n";
constexpr std::string_view kUnchanged =
    "\nlinnet: interrupted before the first step; the run is unchanged\n";
constexpr std::string_view kFinishing =
    "\nlinnet: the model is saved; writing the report (a second signal ends it at once)\n";

void say(std::string_view text) {
  // Nothing can be done about an error here.
  [[maybe_unused]] const calls::Count written =
      calls::write(STDERR_FILENO, text.data(), text.size());
}

/// Calls functions that signal handlers may call, and no others.
void handle(int /*signal*/) {
  const int error = errno;
  interrupted = 1;
  for (const int signal : caught) {
    if (signal != 0) std::signal(signal, SIG_DFL);  // a second one, of whatever kind, kills
  }
  if (phase == kLoading) {
    for (const std::string& path : *to_remove) {
      if (calls::remove(path.c_str()) != 0) calls::remove_folder(path.c_str());
    }
    say(continues != 0 ? kUnchanged : kNothing);
    ::_exit(kInterrupted);
  }
  if (phase == kReporting) say(kFinishing);
  errno = error;
}

}  // namespace

InterruptGuard::InterruptGuard(const std::vector<std::filesystem::path>& removable,
                               bool continued) {
  for (const std::filesystem::path& path : removable) removable_.push_back(path.string());
  to_remove = &removable_;
  continues = continued ? 1 : 0;
  phase = kLoading;
  interrupted = 0;
  signals_.emplace(handle, caught);
}

InterruptGuard::~InterruptGuard() = default;

void InterruptGuard::training() { phase = kTraining; }
void InterruptGuard::reporting(bool heard) {
  phase = kReporting;
  if (!heard && requested()) say(kFinishing);
}
bool InterruptGuard::requested() { return interrupted != 0; }

}  // namespace linnet::command
