// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "data/image.h"

namespace linnet {

/// Decode one format, each in its own file; decode_image() picks by the first bytes.
Image decode_png(std::string_view bytes, const std::filesystem::path& path);
Image decode_jpeg(std::string_view bytes, const std::filesystem::path& path);
Image decode_bmp(std::string_view bytes, const std::filesystem::path& path);

/// Returns an image of the right size in black. Throws Error where it is empty or above 64 million
/// pixels: a few damaged bytes of a header must not ask for all memory.
Image blank_image(std::int64_t height, std::int64_t width, std::int64_t channels,
                  const std::filesystem::path& path);

}  // namespace linnet
