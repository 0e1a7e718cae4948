// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace linnet::command {

/// Throws Error unless the name of a file for --output ends in one of these, e.g. ".csv", or has no
/// extension: another program would take the file for something else.
void require_extension(const std::string& path, const std::vector<std::string>& extensions);

}  // namespace linnet::command
