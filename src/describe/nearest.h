// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// Returns the name at the least edit distance (insert, delete, replace, swap of neighbours) from
/// `given`, or "" where every name is too far to be what was meant.
std::string nearest(std::string_view given, const std::vector<std::string>& names);

/// Returns text such as "; did you mean 'kernel'?", or "".
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

/// Returns text such as "a, b or c"
std::string listed(const std::vector<std::string>& names);

}  // namespace linnet
