// SPDX-License-Identifier: Apache-2.0
#include "report/count_progress.h"

#include <fmt/format.h>

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
    : verb_(std::move(verb)), things_(std::move(things)), last_(Clock::now()) {}

CountProgress::~CountProgress() { clear(); }

void CountProgress::update(std::int64_t done, std::int64_t all) {
  const Clock::time_point now = Clock::now();
  const auto pause = line_.live() ? Clock::duration(kTerminalPause) : Clock::duration(kPlainPause);
  if (now - last_ < pause) return;
  last_ = now;
  line_.draw(count_text(verb_, done, all, things_));
}

}  // namespace linnet::command
