// SPDX-License-Identifier: Apache-2.0
#include "report/print.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "base/join.h"
#include "base/utf8.h"

namespace linnet::command {
namespace {

constexpr std::size_t kMostBytes = 4000;  // of a line

}  // namespace

void print_out(std::string_view text) {
  const std::string safe = printable(text);
  const bool whole = std::fwrite(safe.data(), 1, safe.size(), stdout) == safe.size();
  const bool written = whole && std::fflush(stdout) == 0;
  const int reason = errno;  // read before anything else can change it
  require(written, "cannot write to standard output: {}", std::strerror(reason));
}

void print_line(std::string_view line) {
  const std::string safe = escaped(shortened(line, kMostBytes)) + '\n';
  std::fwrite(safe.data(), 1, safe.size(), stderr);  // a line that cannot be told is lost
}

}  // namespace linnet::command
