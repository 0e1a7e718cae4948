// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace linnet {

/// All bytes of a file that may be packed by gzip or xz, told by its content. Throws Error naming
/// it: it can't be read, is damaged, or has more than `limit` bytes unpacked.
std::string read_unpacked(const std::filesystem::path& path, std::size_t limit);

}  // namespace linnet
