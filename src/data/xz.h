// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace linnet {

/// Whether the bytes begin like an .xz file (xz file format 1.1.0).
bool is_xz(std::string_view bytes);

/// Unpacks at most `limit` bytes of an .xz file; all check sums of what comes out are verified.
/// Memory grows with what really comes out, and the decoder's own is limited to 256 MiB. Throws
/// Error naming `path`: "'x.xz' is damaged: ...", "'x.xz' is cut short".
std::string unxz(std::string_view bytes, const std::filesystem::path& path, std::size_t limit);

}  // namespace linnet
