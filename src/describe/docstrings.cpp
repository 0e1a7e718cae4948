// SPDX-License-Identifier: Apache-2.0
#include "describe/docstrings.h"

#include <algorithm>
#include <cctype>

namespace linnet {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

void append(std::string& text, std::string_view more) {
  more = trimmed(more);
  if (!text.empty() && !more.empty()) text += ' ';
  text += more;
}

/// Returns the name that a line such as "double rate = 0.5;" declares; "" for any other line.
std::string_view declared(std::string_view line) {
  const std::size_t end = line.find(';');
  if (end == std::string_view::npos || line.starts_with("enum") || line.starts_with("using") ||
      line.starts_with("friend") || line.starts_with("static")) {
    return "";
  }
  std::string_view left = line.substr(0, end);
  const std::size_t value = left.find(" =");
  if (value == std::string_view::npos && left.find('(') != std::string_view::npos) return "";
  left = trimmed(left.substr(0, value));
  if (left.ends_with(')') || left.ends_with(") const")) return "";  // = default
  const std::size_t space = left.rfind(' ');
  return space == std::string_view::npos ? "" : left.substr(space + 1);
}

}  // namespace

std::string_view StructDocs::of(std::string_view member) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const MemberDocs& m) { return m.name == member; });
  return found == members.end() ? std::string_view() : std::string_view(found->text);
}

std::vector<StructDocs> parse_docstrings(std::string_view header) {
  std::vector<StructDocs> all;
  std::string before;      // the `///` lines that nothing has followed yet
  bool inside = false;     // a struct
  bool nested = false;     // braces within it that go over several lines
  bool continued = false;  // the last line was a declaration or its comment
  while (!header.empty()) {
    const std::size_t end = std::min(header.find('\n'), header.size());
    const std::string_view whole = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    const std::string_view line = trimmed(whole);
    if (line.starts_with("///<")) {
      if (inside && continued) append(all.back().members.back().text, line.substr(4));
      continue;
    }
    continued = false;
    if (line.starts_with("///")) {
      append(before, line.substr(3));
    } else if (nested) {
      nested = !line.starts_with("};");
    } else if (!inside && line.starts_with("struct ") && line.ends_with('{')) {
      all.push_back({std::string(trimmed(line.substr(7, line.size() - 8))), before, {}});
      inside = true;
      before.clear();
    } else if (!inside && line.starts_with("struct ") && line.ends_with("{};")) {
      all.push_back({std::string(trimmed(line.substr(7, line.size() - 10))), before, {}});
      before.clear();
    } else if (inside && line.starts_with("};")) {
      inside = false;
    } else if (inside && line.ends_with('{')) {
      nested = true;
      before.clear();
    } else {
      const std::string_view name = inside ? declared(line) : "";
      if (!name.empty()) {
        MemberDocs member{std::string(name), before};
        const std::size_t reached = line.find("///<");
        if (reached != std::string_view::npos) append(member.text, line.substr(reached + 4));
        all.back().members.push_back(std::move(member));
        continued = true;
      }
      before.clear();
    }
  }
  return all;
}

StructDocs docs_of(std::string_view name, std::span<const std::string_view> headers) {
  for (const std::string_view header : headers) {
    for (StructDocs& docs : parse_docstrings(header)) {
      if (docs.name == name) return std::move(docs);
    }
  }
  return {};
}

std::string_view first_sentence(std::string_view text) {
  for (std::size_t at = text.find(". "); at != std::string_view::npos;
       at = text.find(". ", at + 1)) {
    // "et al. 2016" and "e.g. x" end no sentence.
    const bool capital = std::isupper(static_cast<unsigned char>(text[at + 2])) != 0;
    const std::string_view before = text.substr(0, at);
    if (capital && !before.ends_with("e.g") && !before.ends_with("et al")) {
      return text.substr(0, at + 1);
    }
  }
  return text;
}

}  // namespace linnet
