// SPDX-License-Identifier: Apache-2.0
#include "report/terminal_line.h"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/console.h"
#include "base/utf8.h"
#include "report/print.h"

namespace linnet::command {
namespace {

constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kFaint = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string_view variable(const char* name) {
  const char* value = environment(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string repeated(std::string_view part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

/// Returns where what takes the next column ends; colours before it belong to it.
std::size_t next_column(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == '\x1b')
    at = std::min(text.find('m', at), text.size() - 1) + 1;
  if (at == text.size()) return at;
  for (++at; at < text.size() && !begins_character(text[at]);) ++at;
  return at;
}

/// Returns the text up to a column, in no colour from there on.
std::string cut(const std::string& text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t column = 0; column < columns && end < text.size(); ++column) {
    end = next_column(text, end);
  }
  const bool coloured = end < text.size() && text.find('\x1b') < end;
  return text.substr(0, end) + std::string(coloured ? kPlain : "");
}

}  // namespace

std::string bar_text(double part, int columns, const TerminalStyle& style) {
  part = std::clamp(part, 0.0, 1.0);
  if (!style.utf8) {
    const int full = static_cast<int>(part * (columns - 2));
    return "[" + repeated("=", full) + repeated(" ", columns - 2 - full) + "]";
  }
  const int full = static_cast<int>(part * columns);
  if (!style.colour) return repeated("━", full) + repeated("─", columns - full);
  return std::string(kGreen) + repeated("━", full) + std::string(kPlain) + std::string(kFaint) +
         repeated("━", columns - full) + std::string(kPlain);
}

std::size_t columns_of(const std::string& text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const bool coloured = text[at] == '\x1b';
    const std::size_t end = next_column(text, at);
    const bool ends = end == text.size() && coloured && text.back() == 'm';
    columns += ends ? 0 : 1;
    at = end;
  }
  return columns;
}

TerminalLine::TerminalLine()
    : live_(error_is_terminal() && variable("TERM") != "dumb" && variable("CI").empty()) {
  if (live_) style_ = {.colour = variable("NO_COLOR").empty(), .utf8 = terminal_shows_utf8()};
}

std::size_t TerminalLine::columns() {
  const int columns = terminal_columns();
  return columns > 0 ? static_cast<std::size_t>(columns) : 80;
}

void TerminalLine::draw(const std::string& text) {
  if (!live_) {
    return print_line(text);
  }
  const std::string line = cut(text, columns() - 1);
  const std::size_t length = columns_of(line);
  const std::string over(std::max(length, shown_) - length, ' ');  // what was there
  std::fprintf(stderr, "\r%s%s", line.c_str(), over.c_str());
  std::fflush(stderr);
  shown_ = length;
}

void TerminalLine::clear() {
  if (shown_ > 0) std::fprintf(stderr, "\r%s\r", std::string(shown_, ' ').c_str());
  shown_ = 0;
}

}  // namespace linnet::command
