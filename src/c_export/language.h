// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// Describes a language in which functions are written. Entries are templates, whose parts are {0},
/// {1}, ...:
///   name, comment (what begins one)
///   head, tail    stand around all; {0}: the file's name, the exported function
///   function, exported  {0}: name, {1}: parameters, {2}: type of the result
///   loop          {0}: variable, {1}: first, {2}: end
///   branch        {0}: condition; otherwise
///   end           of a block; empty: the indentation ends it
///   declare       {0}: type, {1}: variable, {2}: value
///   raise         {0}: message
///   stop          after a statement
///   variable, own before names of variables, and of own functions and constants
///   choice        {0}: condition, {1}: where it is true, {2}: where it is not
///   numbers, texts  a constant; {0}: name, {1}: elements
///   reserved      words that name no class, and classes that the functions use
///   :num, ...     types of variables
/// and the functions that it has, by the library's names.
struct Language {
  std::map<std::string_view, std::string_view> entries = {};
  /// Functions written in the language itself: reading a row's field, and a text's number.
  std::string_view prelude = {};

  bool has(std::string_view name) const { return entries.contains(name); }
  /// Returns an entry, or "".
  std::string_view operator[](std::string_view name) const {
    const auto found = entries.find(name);
    return found == entries.end() ? std::string_view() : found->second;
  }
  bool is(std::string_view name) const { return operator[]("name") == name; }
  /// Returns how many blocks stand around functions.
  std::size_t depth() const { return is("Java") || is("PHP") ? 1 : 0; }
};

/// Returns the language of a file's extension: py, js, cjs, mjs, java or php; null for others.
const Language* language_of(std::string_view extension);

/// Returns whether a character may stand in a name.
bool is_in_name(char c);

/// Returns a template with its parts in place.
std::string filled(std::string_view text, const std::vector<std::string>& parts);

/// Returns whether a text names a class of the language that exported functions can be in.
bool names_class(const Language& language, std::string_view text);

/// Returns a text as a literal.
std::string quoted(const Language& language, std::string_view text);

/// Writes a program in a language. Its source is lines of a small one: `def TYPE name(TYPE a,
/// ...)`, `export` for a function that users call, `for i to COUNT`, `if CONDITION`, `else`, `end`,
/// `return VALUE`, `raise TEXT`, `TYPE name = VALUE`, `place = VALUE` and calls. Values are
/// expressions of C; names in capitals are constants. Types: num, int, text, list, out (a list that
/// the function writes), lists, texts, row, named, nested (named ones by name) and none.
class SourcePrinter {
 public:
  SourcePrinter(const Language& language, std::size_t depth);

  /// Adds lines of source; indentation does not count.
  void add(std::string_view source);
  void comment(const std::string& text);
  const std::string& text() const { return text_; }

  /// Returns an expression of C in the language.
  std::string expression(std::string_view c) const;

 private:
  void line(std::string_view source);
  void put(const std::string& text);
  void begin(std::string_view form, const std::vector<std::string>& parts);
  void function(std::string_view signature, bool exported);
  std::string tokens(std::string_view c) const;
  std::string type(std::string_view own) const;
  std::string entry(std::string_view name) const { return std::string(language_[name]); }

  const Language& language_;
  std::size_t depth_;
  std::string text_;
};

}  // namespace linnet
