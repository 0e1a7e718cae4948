// SPDX-License-Identifier: Apache-2.0
#include "c_export/language.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "c_export/function_library.h"
#include "c_export/operator_file.h"

namespace linnet {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Takes the first word off a text.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

/// Returns the place of the first of `marks` outside of brackets and literals, or npos.
std::size_t find_outside(std::string_view text, std::string_view marks, std::size_t from = 0) {
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
      continue;
    }
    if (depth == 0 && marks.find(text[i]) != std::string_view::npos) return i;
    if (text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == ']') --depth;
    if (depth < 0) break;
  }
  return std::string_view::npos;
}

/// Returns the place of the first " = " outside of brackets and literals, or npos.
std::size_t find_assignment(std::string_view text) {
  std::size_t at = 0;
  for (; (at = find_outside(text, "=", at)) != std::string_view::npos; ++at) {
    if (at > 0 && text.substr(at - 1, 3) == " = ") return at - 1;
  }
  return at;
}

/// Returns the place of the ':' that belongs to a '?' at the beginning of `text`.
std::size_t find_otherwise(std::string_view text) {
  int open = 0;
  for (std::size_t at = 0; (at = find_outside(text, "?:", at)) != std::string_view::npos; ++at) {
    open += text[at] == '?' ? 1 : -1;
    if (open == 0) return at;
  }
  fail<InternalError>("a choice without ':': {}", text);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; !trimmed(text).empty();) {
    const std::size_t comma = find_outside(text, ",", from);
    parts.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return parts;
}

}  // namespace

bool is_in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string filled(std::string_view text, const std::vector<std::string>& parts) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool part =
        text[i] == '{' && i + 2 < text.size() && is_digit(text[i + 1]) && text[i + 2] == '}';
    if (part) {
      out += parts.at(static_cast<std::size_t>(text[i + 1] - '0'));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool names_class(const Language& language, std::string_view text) {
  if (!is_identifier(text)) return false;
  std::string name(text);
  if (language.is("PHP")) {  // where classes are the same in capitals
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  const std::string_view words = language["reserved"];
  for (std::size_t from = 0; from < words.size();) {
    const std::size_t end = std::min(words.find_first_of(" \n", from), words.size());
    if (words.substr(from, end - from) == name) return false;
    from = end + 1;
  }
  return true;
}

std::string quoted(const Language& language, std::string_view text) {
  const bool java = language.is("Java");
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\' || (c == '$' && language.is("PHP"))) {
      out += '\\';
      out += text[i];
    } else if (c < ' ' || c == 127) {
      // Java reads \u000a as the end of its line, and has octal numbers instead of \x.
      out += fmt::format(java ? fmt::runtime("\\{:03o}") : fmt::runtime("\\x{:02x}"), c);
    } else if (c < 128 || !java) {
      out += text[i];
    } else {
      const int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
      std::uint32_t point = c & (0x3FU >> more);
      for (int k = 0; k < more && i + 1 < text.size(); ++k) {
        point = point << 6 | (static_cast<unsigned char>(text[++i]) & 0x3FU);
      }
      if (point >= 0x10000) {
        out += fmt::format("\\u{:04x}", 0xD7C0 + (point >> 10));
        point = 0xDC00 + (point & 0x3FFU);
      }
      out += fmt::format("\\u{:04x}", point);
    }
  }
  return out + "\"";
}

SourcePrinter::SourcePrinter(const Language& language, std::size_t depth)
    : language_(language), depth_(depth) {}

void SourcePrinter::put(const std::string& text) {
  text_ += std::string(4 * depth_, ' ') + text + "\n";
}

void SourcePrinter::comment(const std::string& text) { put(entry("comment") + " " + text); }

void SourcePrinter::begin(std::string_view form, const std::vector<std::string>& parts) {
  put(filled(form, parts));
  ++depth_;
}

std::string SourcePrinter::type(std::string_view own) const {
  std::string text = entry(":" + std::string(own));
  if (text.size() > 1) text += ' ';
  return text;
}

void SourcePrinter::function(std::string_view signature, bool exported) {
  const std::string result = type(take_word(signature));
  const std::size_t open = signature.find('(');
  std::string parameters;
  for (std::string_view parameter :
       split(signature.substr(open + 1, signature.size() - open - 2))) {
    if (!parameters.empty()) parameters += ", ";
    parameters += type(take_word(parameter));
    parameters += language_["variable"];
    parameters += parameter;
  }
  begin(language_[exported ? "exported" : "function"],
        {std::string(signature.substr(0, open)), parameters, result});
}

void SourcePrinter::add(std::string_view source) {
  while (!source.empty()) {
    const std::size_t end = std::min(source.find('\n'), source.size());
    line(trimmed(source.substr(0, end)));
    source.remove_prefix(std::min(end + 1, source.size()));
  }
}

void SourcePrinter::line(std::string_view source) {
  if (source.empty()) return;
  std::string_view rest = source;
  const std::string_view word = take_word(rest);
  const std::string stop = entry("stop");
  if (word == "def" || word == "export") return function(rest, word == "export");
  if (word == "end") {
    --depth_;
    if (language_.has("end")) put(entry("end"));
    if (depth_ == language_.depth()) text_ += language_.has("end") ? "\n" : "\n\n";
    return;
  }
  if (word == "for") {
    const std::string_view variable = take_word(rest);
    take_word(rest);  // to
    return begin(language_["loop"], {expression(variable), "0", expression(rest)});
  }
  if (word == "if") return begin(language_["branch"], {expression(rest)});
  if (word == "else") {
    --depth_;
    return begin(language_["otherwise"], {});
  }
  if (word == "return") return put("return " + expression(rest) + stop);
  if (word == "raise") return put(filled(language_["raise"], {expression(rest)}));
  if (language_.has(":" + std::string(word))) {
    const std::string_view variable = take_word(rest);
    take_word(rest);  // =
    return put(filled(language_["declare"], {type(word), expression(variable), expression(rest)}));
  }
  if (const std::size_t equals = find_assignment(source); equals != std::string_view::npos) {
    return put(expression(source.substr(0, equals)) + " = " +
               expression(source.substr(equals + 3)) + stop);
  }
  put(expression(source) + stop);
}

std::string SourcePrinter::expression(std::string_view c) const {
  c = trimmed(c);
  const std::size_t question = find_outside(c, "?");
  if (question == std::string_view::npos) return tokens(c);
  const std::string_view rest = c.substr(question);
  const std::size_t colon = find_otherwise(rest);
  return filled(language_["choice"],
                {expression(c.substr(0, question)), expression(rest.substr(1, colon - 1)),
                 expression(rest.substr(colon + 1))});
}

std::string SourcePrinter::tokens(std::string_view c) const {
  std::string out;
  for (std::size_t i = 0; i < c.size();) {
    const std::size_t from = i;
    if (c[i] == '"') {
      for (++i; i < c.size() && c[i] != '"'; ++i) i += c[i] == '\\' ? 1 : 0;
      i = std::min(i + 1, c.size());
      out += c.substr(from, i - from);
    } else if (c[i] == '\'') {  // a character is a text of one
      out += fmt::format("\"{}\"", c.substr(i + 1, 1));
      i = std::min(i + 3, c.size());
    } else if (is_digit(c[i])) {
      while (i < c.size() && (is_in_name(c[i]) || c[i] == '.' ||
                              ((c[i] == '-' || c[i] == '+') && c[i - 1] == 'e'))) {
        ++i;
      }
      const std::string_view number = c.substr(from, i - from);
      out += number.substr(0, number.size() - (number.ends_with('f') ? 1 : 0));
    } else if (is_in_name(c[i])) {
      while (i < c.size() && is_in_name(c[i])) ++i;
      std::string_view name = c.substr(from, i - from);
      const bool call = i < c.size() && c[i] == '(';
      if (!call) {
        const bool constant = std::ranges::all_of(name, [](char l) {
          return std::isupper(static_cast<unsigned char>(l)) != 0 || is_digit(l) || l == '_';
        });
        const bool word = constant && language_.has(name);  // NULL
        out += word ? entry(name) : entry(constant ? "own" : "variable") + std::string(name);
        continue;
      }
      const std::size_t end = i + 1 + find_outside(c.substr(i + 1), ")");
      std::vector<std::string> arguments;
      for (const std::string_view one : split(c.substr(i + 1, end - i - 1))) {
        arguments.push_back(expression(one));
      }
      i = end + 1;
      // C has expf() beside exp().
      const std::string_view without = name.substr(0, name.size() - (name.ends_with('f') ? 1 : 0));
      if (!is_library_function(name)) name = without;
      const auto own = language_.entries.find(name);
      if (own != language_.entries.end()) {
        out += filled(own->second, arguments);
      } else {
        out += fmt::format("{}{}({})", language_["own"], name, fmt::join(arguments, ", "));
      }
    } else if (c[i] == '(') {
      const std::size_t end = i + 1 + find_outside(c.substr(i + 1), ")");
      out += "(" + expression(c.substr(i + 1, end - i - 1)) + ")";
      i = end + 1;
    } else if (c.substr(i).starts_with("||") || c.substr(i).starts_with("&&")) {
      const auto word = language_.entries.find(c.substr(i, 2));
      out += word == language_.entries.end() ? c.substr(i, 2) : word->second;
      i += 2;
    } else {
      out += c[i++];
    }
  }
  return out;
}

}  // namespace linnet
