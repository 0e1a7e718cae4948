// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace linnet {

/// Whether the bytes begin like a gzip file (RFC 1952).
bool is_gzip(std::string_view bytes);

/// Unpacks at most `limit` bytes of a gzip file. Memory grows with what really comes out, never
/// with what a header claims; where all of it fits, its check sum has been verified. Throws Error
/// naming `path`: "'x.gz' is damaged: incorrect data check", "'x.gz' is cut short".
std::string gunzip(std::string_view bytes, const std::filesystem::path& path, std::size_t limit);

}  // namespace linnet
