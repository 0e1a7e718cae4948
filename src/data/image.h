// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// Pixels in rows from the top, channels interleaved: (height, width, channels).
struct Image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 1;  ///< 1 grey, 3 red, green, blue
  std::vector<std::uint8_t> pixels;
};

/// Decodes PNG, JPEG or BMP, told apart by content, as Pillow's Image.open() does: samples as the
/// file stores them. A PNG's gamma and colour profile change nothing, its alpha is dropped, and of
/// 16-bit samples the high byte is taken; CMYK becomes RGB as Pillow has it; no EXIF orientation is
/// applied. An image whose file says grey has 1 channel, any other 3. `path` is for messages only.
/// Throws Error naming `path`: unknown format, damaged or cut short, too large, an unsupported
/// kind.
Image decode_image(std::string_view bytes, const std::filesystem::path& path);

/// Returns a PNG file of an image with 1 or 3 channels. Throws Error where the sizes disagree.
std::string encode_png(const Image& image);
/// Returns a BMP file, uncompressed: 8 bits with a grey palette for 1 channel, else 24 bits.
std::string encode_bmp(const Image& image);

}  // namespace linnet
