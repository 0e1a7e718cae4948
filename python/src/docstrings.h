// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace linnet::python {

struct Docstring {
  std::string_view name;
  std::string_view text;
};

/// Returns the docstrings of the public headers, sorted by name (python/tools/docstrings.py).
std::span<const Docstring> docstrings();

/// Returns the docstring of a class, function or field, e.g. "Model.predict". Throws InternalError
/// for a name that no header has.
std::string_view docstring(std::string_view name);

/// Returns the docstring of a binding, which lives as long as the process: that of the name, then
/// `arguments`, a line each.
const char* doc(std::string_view name, const std::string& arguments = {});
/// Returns a text that lives as long as the process.
const char* keep(std::string text);

}  // namespace linnet::python
