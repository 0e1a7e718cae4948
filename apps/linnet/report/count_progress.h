// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "report/terminal_line.h"

namespace linnet::command {

/// Returns text such as "reading 1200/5000 files (24 %)"
std::string count_text(const std::string& verb, std::int64_t done, std::int64_t all,
                       const std::string& things);

/// Returns text such as "reading [=====     ] 1200/5000 files (24 %)", for terminals.
std::string count_line(const std::string& verb, std::int64_t done, std::int64_t all,
                       const std::string& things, const TerminalStyle& style);

/// Shows on standard error how far a long work is: one line drawn again and again in a terminal and
/// wiped at the end, elsewhere a plain line every few seconds; nothing of what is done at once.
class CountProgress {
 public:
  CountProgress(std::string verb, std::string things);
  CountProgress(const CountProgress&) = delete;
  CountProgress& operator=(const CountProgress&) = delete;
  ~CountProgress();
  void update(std::int64_t done, std::int64_t all);
  /// Returns whether there is a terminal that draws a line again.
  bool live() const { return line_.live(); }
  /// Wipes the line, so that something else can be said.
  void clear() { line_.clear(); }

 private:
  using Clock = std::chrono::steady_clock;
  std::string verb_;
  std::string things_;
  TerminalLine line_;
  Clock::time_point last_;
};

}  // namespace linnet::command
