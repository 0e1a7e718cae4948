// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// Returns the name at the least edit distance (insert, delete, replace, swap of neighbours) from
/// `given`, whatever their case, or "" where every name is too far to be what was meant. Names of
/// more than 100 bytes are no typing mistakes: they are near nothing.
std::string nearest(std::string_view given, const std::vector<std::string>& names);

/// Returns text such as "; did you mean 'kernel'?", or "".
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

/// Does the same; where no name is near, returns all: "; expected a, b or c" for `otherwise` of
/// "expected".
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names,
                         std::string_view otherwise);

/// Returns text such as "a, b or c", or "a, b, c or one of 970 more" where the list would take more
/// than about 1,000 bytes.
std::string listed(const std::vector<std::string>& names);

/// Returns text such as "a, b and 3 more": at most `most` names, and at most about 1,000 bytes.
std::string some_of(const std::vector<std::string>& names, std::size_t most = 20);

/// Does the same for names in quotes: "'a', 'b' and 3 more".
std::string quoted(const std::vector<std::string>& names, std::size_t most = 20);

}  // namespace linnet
