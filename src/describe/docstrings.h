// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// Docstring of a struct's member in a public header.
struct MemberDocs {
  std::string name;
  std::string text;  ///< on one line
};

/// Docstring of a struct in a public header.
struct StructDocs {
  std::string name;
  std::string text;
  std::vector<MemberDocs> members;  ///< all variables, in order

  /// Returns a member's text; "" if the header has none.
  std::string_view of(std::string_view member) const;
};

/// Finds the structs of a header with their docstrings: `///` lines before them and before their
/// members, or `///<` after these. It reads headers as clang-format leaves them: a declaration of
/// a variable is on one line.
std::vector<StructDocs> parse_docstrings(std::string_view header);

/// Returns what the first header that has a struct of this name says of it.
StructDocs docs_of(std::string_view name, std::span<const std::string_view> headers);

/// Returns the text up to the end of its first sentence.
std::string_view first_sentence(std::string_view text);

}  // namespace linnet
