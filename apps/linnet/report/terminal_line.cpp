// SPDX-License-Identifier: Apache-2.0
#include "report/terminal_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace linnet::command {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

TerminalLine::TerminalLine()
    : live_(isatty(STDERR_FILENO) == 1 && environment("TERM") != "dumb" &&
            environment("CI").empty()) {}

std::size_t TerminalLine::columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

void TerminalLine::draw(std::string text) {
  if (!live_) {
    std::fprintf(stderr, "%s\n", text.c_str());
    std::fflush(stderr);
    return;
  }
  text.resize(std::min(text.size(), columns() - 1));
  const std::size_t length = text.size();
  text.resize(std::max(length, shown_), ' ');  // over what was there
  std::fprintf(stderr, "\r%s", text.c_str());
  std::fflush(stderr);
  shown_ = length;
}

void TerminalLine::clear() {
  if (shown_ > 0) std::fprintf(stderr, "\r%s\r", std::string(shown_, ' ').c_str());
  shown_ = 0;
}

}  // namespace linnet::command
