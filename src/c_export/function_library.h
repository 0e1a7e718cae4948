// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string_view>

namespace linnet {

/// Returns whether there is a function of this name for exported functions.
bool is_library_function(std::string_view name);
/// Returns its text, as SourcePrinter reads it.
std::string_view library_function(std::string_view name);
/// Returns the names of those that a text of SourcePrinter calls, and of all that these call;
/// literals and comments call nothing.
std::set<std::string_view> with_callees(std::string_view source);

}  // namespace linnet
