// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace linnet::command {

enum class JsonKind : std::uint8_t { null, boolean, number, string, array, object };

/// Returns "array" etc., for messages.
std::string_view to_string(JsonKind kind);

/// One value or bracket of a JSON text.
struct JsonEvent {
  JsonKind kind = JsonKind::null;
  int depth = 0;               ///< arrays and objects around it, inside the section
  double number = 0;           ///< of a number
  std::string_view text = {};  ///< of a string, or as a number or boolean stands there
};

/// Gets what a section of a request holds, while it is read.
class JsonSection {
 public:
  JsonSection() = default;
  JsonSection(const JsonSection&) = delete;
  JsonSection& operator=(const JsonSection&) = delete;
  virtual ~JsonSection() = default;

  /// A value, or the beginning of an array or object.
  virtual void value(const JsonEvent& event) = 0;
  /// The name of the next value, in an object at this depth.
  virtual void key(std::string_view name, int depth) = 0;
  /// The end of an array or object which began at this depth.
  virtual void close(int depth) = 0;
};

/// Reads an object of sections and keeps nothing of it, so that its memory does not depend on the
/// text. Returns the name of the section that was there, "" for none; values under other names are
/// passed over. Throws Error for what is not JSON or no object, for more than one section, and for
/// nesting beyond 64.
std::string read_sections(const std::string& text,
                          const std::map<std::string, JsonSection*>& sections);

}  // namespace linnet::command
