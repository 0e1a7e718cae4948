// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "formats/pieces.h"

namespace linnet {

/// Returns whether the bytes begin like a gzip file (RFC 1952).
bool is_gzip(std::string_view bytes);

/// Unpacks a gzip file in pieces, until `take` has enough or `limit` bytes have come out, in the
/// memory of one piece. Its check sum has been verified where it was read to its end. Throws Error
/// naming `path`: "'x.gz' is damaged: incorrect data check", "'x.gz' is cut short".
void gunzip(std::string_view bytes, const std::filesystem::path& path, std::size_t limit,
            const TakePiece& take);
/// Returns the same as one string, in memory of its size.
std::string gunzip(std::string_view bytes, const std::filesystem::path& path, std::size_t limit);

}  // namespace linnet
