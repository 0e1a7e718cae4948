// SPDX-License-Identifier: Apache-2.0
// What nanobind says of arguments that fit no signature, as a sentence of the library's form. It
// has no hook for that, so the linker sends its calls of PyErr_SetString() here
// (python/CMakeLists.txt).
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "bind.h"
#include "options.h"

namespace linnet::python {
namespace {

constexpr std::string_view kBegin = "(): incompatible function arguments.";
constexpr std::string_view kInvoked = "\nInvoked with types: ";

void erase_all(std::string& text, std::string_view what) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.erase(at, what.size());
  }
}

/// Returns the parts between commas that lie in no brackets.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(std::move(part));
      part.clear();
    } else if (c != ' ' || !part.empty()) {
      part += c;
    }
  }
  if (part.find_first_not_of(' ') != std::string::npos) parts.push_back(std::move(part));
  return parts;
}

/// Returns what stands between the first bracket and the one that closes it.
std::string_view inside(std::string_view text, char open, char close) {
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) return {};
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return text.substr(begin + 1, i - begin - 1);
  }
  return {};
}

std::string key_of(std::string_view parameter) {
  return std::string(parameter.substr(0, parameter.find(':')));
}

/// Returns the sentence for nanobind's text, or the text itself where it says something else.
std::string explained(std::string_view text) {
  const std::size_t named = text.find(kBegin);
  const std::size_t invoked = text.rfind(kInvoked);
  if (named == std::string_view::npos || invoked == std::string_view::npos)
    return std::string(text);

  std::string owner(text.substr(0, named));
  std::vector<std::string> got = parts_of(text.substr(invoked + kInvoked.size()));
  std::vector<std::string> keys;
  if (!got.empty() && got.back().starts_with("kwargs = {")) {
    const std::string last = got.back();
    got.pop_back();
    for (const std::string& one : parts_of(inside(last, '{', '}'))) {
      keys.push_back(key_of(one));
      got.push_back(one);
    }
  }

  std::vector<std::string> known;
  std::string takes;
  bool is_method = false;
  std::string_view rest = text.substr(named + kBegin.size(), invoked - named - kBegin.size());
  for (std::size_t at = rest.find("\n    "); at != std::string_view::npos;
       at = rest.find("\n    ")) {
    rest = rest.substr(at + 5);
    std::vector<std::string> parameters =
        parts_of(inside(rest.substr(0, rest.find('\n')), '(', ')'));
    if (!parameters.empty() && key_of(parameters.front()) == "self") {
      is_method = true;
      parameters.erase(parameters.begin());
    }
    takes += takes.empty() ? "(" : " or (";
    for (const std::string& one : parameters) {
      takes += takes.back() == '(' ? one : ", " + one;
      known.push_back(key_of(one));
    }
    takes += ")";
  }
  if (is_method && !got.empty()) {
    const std::string type = got.front().substr(got.front().rfind('.') + 1);
    owner = owner == "__init__" ? type : fmt::format("{}.{}", type, owner);
    got.erase(got.begin());
  }

  for (const std::string& key : keys) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return unknown_key(owner, key, known);
    }
  }
  for (const char* module : {"linnet._linnet.", "numpy.typing.", "collections.abc.", "typing."}) {
    erase_all(takes, module);
  }
  return fmt::format("[{}] takes {}; got ({})", owner, takes, fmt::join(got, ", "));
}

}  // namespace
}  // namespace linnet::python

extern "C" void __real_PyErr_SetString(PyObject* type, const char* text);
extern "C" void __wrap_PyErr_SetString(PyObject* type, const char* text) {
  if (type != PyExc_TypeError) return __real_PyErr_SetString(type, text);
  __real_PyErr_SetString(type, linnet::python::explained(text).c_str());
}
