// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/c_export.h>

#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// Holds the text of a function for generated C files; `needs` are the functions that it calls.
/// In the text, @W@ is the type of weights, "@S@" a parameter for their scales and "@s@" the
/// argument that hands them on, both nothing for f32.
struct CFunction {
  std::string_view name;
  std::vector<std::string_view> needs;
  std::string_view text;
};

/// Returns the text of a function that goes through windows of an image: its `head` opens it and
/// names its parameters as max_pool2d() does; the others are lines at the begin of a window, for
/// pixel (row, column) of it, and at its end.
std::string over_windows(std::string_view head, std::string_view begin, std::string_view pixel,
                         std::string_view end = "");

/// Returns those that stand after the ones of c_functions.cpp.
const std::vector<CFunction>& further_c_functions();
/// Returns those that compute in 8 bits, which stand after these.
const std::vector<CFunction>& level_c_functions();

/// Throws InternalError for an unknown name.
const CFunction& c_function(std::string_view name);

/// Returns the texts of those named and of all that they need, each once, callees first.
std::string c_functions(const std::vector<std::string>& names, CWeights weights);

}  // namespace linnet
