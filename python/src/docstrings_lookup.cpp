// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>

#include "base/check.h"
#include "docstrings.h"

namespace linnet::python {
namespace {

constexpr std::size_t kWidth = 96;

/// Returns the text in lines.
std::string wrapped(std::string_view text) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (column > 0 && column + 1 + word.size() > kWidth) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

}  // namespace

std::string_view docstring(std::string_view name) {
  const auto all = docstrings();
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const Docstring& d, std::string_view n) { return d.name < n; });
  if (found == all.end() || found->name != name) {
    throw InternalError(fmt::format("no header describes '{}'", name));
  }
  return found->text;
}

const char* keep(std::string text) {
  static auto* all = new std::deque<std::string>;
  return all->emplace_back(std::move(text)).c_str();
}

const char* doc(std::string_view name, const std::string& arguments) {
  return keep(wrapped(docstring(name)) + (arguments.empty() ? "" : "\n\n" + arguments));
}

}  // namespace linnet::python
