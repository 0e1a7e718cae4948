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

std::string count_line(const std::string& verb, std::int64_t done, std::int64_t all,
                       const std::string& things, const TerminalStyle& style) {
  constexpr int kBar = 24;
  const double part = all > 0 ? static_cast<double>(done) / static_cast<double>(all) : 1;
  const std::string text = count_text(verb, done, all, things);
  return verb + " " + bar_text(part, kBar, style) + text.substr(verb.size());
}

CountProgress::CountProgress(std::string verb, std::string things)
    : verb_(std::move(verb)), things_(std::move(things)), last_(Clock::now()) {}

CountProgress::~CountProgress() { clear(); }

void CountProgress::update(std::int64_t done, std::int64_t all) {
  const Clock::time_point now = Clock::now();
  const auto pause = line_.live() ? Clock::duration(kTerminalPause) : Clock::duration(kPlainPause);
  if (now - last_ < pause) return;
  last_ = now;
  line_.draw(line_.live() ? count_line(verb_, done, all, things_, line_.style())
                          : count_text(verb_, done, all, things_));
}

}  // namespace linnet::command
