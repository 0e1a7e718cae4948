// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// Holds the ids of characters: texts of one character each, in UTF-8.
class Characters {
 public:
  /// Throws Error for a text that is not one character.
  explicit Characters(const std::vector<std::string>& characters);

  /// Returns the different characters of well-formed UTF-8, by code point.
  static std::vector<std::string> of(std::string_view text);

  /// Holds the ids of a text.
  struct Ids {
    std::vector<std::int32_t> ids = {};
    std::size_t unknown = 0;         ///< characters without an id, which are left out
    std::string first_unknown = {};  ///< the first of them
  };
  /// Encodes well-formed UTF-8.
  Ids encode(std::string_view text) const;

 private:
  std::map<std::string, std::int32_t, std::less<>> ids_;
};

}  // namespace linnet
