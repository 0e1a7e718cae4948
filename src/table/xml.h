// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace linnet {

/// What is called while an XML text is read. Names are without their prefixes.
struct XmlHandlers {
  /// An element begins; `attributes`: names and values in turn.
  std::function<void(std::string_view name, std::span<const char* const> attributes)> begin;
  std::function<void(std::string_view name)> end;
  std::function<void(std::string_view text)> text;
};

/// Returns the value of an attribute; "" where it is missing.
std::string_view attribute(std::span<const char* const> attributes, std::string_view name);

/// Reads XML piece by piece, without document type declarations, and so without entities of its
/// own. What a handler throws comes out of feed().
class XmlReader {
 public:
  explicit XmlReader(XmlHandlers handlers);
  XmlReader(const XmlReader&) = delete;
  XmlReader& operator=(const XmlReader&) = delete;
  ~XmlReader();
  /// Throws DataError for what is not XML, with its line. `last`: the text ends.
  void feed(std::string_view piece, bool last);

 private:
  struct State;
  State* state_;
};

}  // namespace linnet
