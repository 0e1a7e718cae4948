// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "formats/pieces.h"

namespace linnet {

/// Returns whether the bytes begin like an .xz file (xz file format 1.1.0).
bool is_xz(std::string_view bytes);

/// Unpacks an .xz file in pieces, until `take` has enough or `limit` bytes have come out; all check
/// sums of what comes out are verified. Takes the memory of one piece, and the decoder's own, which
/// is limited to 256 MiB. Throws Error naming `path`: "'x.xz' is damaged: ...", "... is cut short".
void unxz(std::string_view bytes, const std::filesystem::path& path, std::size_t limit,
          const TakePiece& take);
/// Returns the same as one string, in memory of its size.
std::string unxz(std::string_view bytes, const std::filesystem::path& path, std::size_t limit);

}  // namespace linnet
