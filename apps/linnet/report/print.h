// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace linnet::command {

// The one place that writes to standard output and standard error (tools/check_gates.py), since
// names of classes, columns, files and tensors are somebody else's text: printable() and escaped()
// of base/utf8.h leave no control character in it.

/// Prints text of lines and of fields between tabs on standard output. Throws Error if it cannot be
/// written, e.g. on a full disk.
void print_out(std::string_view text);

/// Prints a line on standard error; of one of more than 4,000 bytes the beginning and the end.
void print_line(std::string_view line);

/// Prints "linnet: SENTENCE" as such a line.
template <class... Args>
void print_note(fmt::format_string<Args...> format, Args&&... args) {
  print_line("linnet: " + fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace linnet::command
