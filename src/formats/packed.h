// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "formats/pieces.h"

namespace linnet {

/// Hands the content of a file that may be packed by gzip or xz, told by its first bytes, to `take`
/// until that has enough. Takes the memory of the packed file and of one piece. Throws Error naming
/// it: it can't be read, is damaged, or has more than `limit` bytes unpacked.
void read_pieces(const std::filesystem::path& path, std::size_t limit, const TakePiece& take);

/// Returns all of it as one string. Nothing is kept of a file with more than `limit` bytes.
std::string read_unpacked(const std::filesystem::path& path, std::size_t limit);

}  // namespace linnet
