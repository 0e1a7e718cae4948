// SPDX-License-Identifier: Apache-2.0
#include "report/count_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace linnet::command {
namespace {

using namespace std::chrono_literals;
constexpr auto kTerminalPause = 100ms;
constexpr auto kPlainPause = 5s;

}  // namespace

std::string count_text(const std::string& verb, std::int64_t done, std::int64_t all,
                       const std::string& things) {
  const std::int64_t percent = all > 0 ? 100 * done / all : 100;
  return fmt::format("{} {}/{} {} ({} %)", verb, done, all, things, percent);
}

CountProgress::CountProgress(std::string verb, std::string things)
    : verb_(std::move(verb)),
      things_(std::move(things)),
      terminal_(isatty(STDERR_FILENO) == 1),
      last_(Clock::now()) {}

CountProgress::~CountProgress() { clear(); }

void CountProgress::update(std::int64_t done, std::int64_t all) {
  const Clock::time_point now = Clock::now();
  if (now - last_ < (terminal_ ? Clock::duration(kTerminalPause) : Clock::duration(kPlainPause))) {
    return;
  }
  last_ = now;
  const std::string text = count_text(verb_, done, all, things_);
  if (terminal_) {
    std::fprintf(stderr, "\r\x1b[2K%s", text.c_str());
    shown_ = true;
  } else {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  std::fflush(stderr);
}

void CountProgress::clear() {
  if (shown_) std::fputs("\r\x1b[2K", stderr);
  shown_ = false;
}

}  // namespace linnet::command
