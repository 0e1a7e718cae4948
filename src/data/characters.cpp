// SPDX-License-Identifier: Apache-2.0
#include "data/characters.h"

#include <set>

#include "base/check.h"

namespace linnet {
namespace {

/// Removes the first character of well-formed UTF-8 from `text` and returns it.
std::string_view take_character(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  const std::string_view character = text.substr(0, bytes);
  text.remove_prefix(character.size());
  return character;
}

}  // namespace

Characters::Characters(const std::vector<std::string>& characters) {
  for (const std::string& one : characters) {
    std::string_view rest = one;
    if (!rest.empty()) take_character(rest);
    require(!one.empty() && rest.empty(),
            "expected classes of one character each, as a language model has; got '{}'", one);
    const bool added = ids_.emplace(one, static_cast<std::int32_t>(ids_.size())).second;
    require(added, "expected classes that differ, as a language model has; got '{}' twice", one);
  }
}

std::vector<std::string> Characters::of(std::string_view text) {
  std::set<std::string, std::less<>> found;
  while (!text.empty()) {
    const std::string_view one = take_character(text);
    if (!found.contains(one)) found.emplace(one);
  }
  // The order of bytes is that of code points.
  return {found.begin(), found.end()};
}

Characters::Ids Characters::encode(std::string_view text) const {
  Ids result;
  while (!text.empty()) {
    const std::string_view one = take_character(text);
    if (const auto found = ids_.find(one); found != ids_.end()) {
      result.ids.push_back(found->second);
    } else if (result.unknown++ == 0) {
      result.first_unknown = one;
    }
  }
  return result;
}

}  // namespace linnet
