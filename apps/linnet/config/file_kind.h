// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace linnet::command {

/// Returns what a file holds by its name, and what to do with it where something else was expected:
/// "an archive; unpack it and name the folder". "" for a name that tells nothing.
std::string file_kind(const std::filesystem::path& path);

}  // namespace linnet::command
