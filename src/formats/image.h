// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

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
  std::int64_t largest = 0;  ///< the largest sample of a file that has 16 bits; else 0
};

/// Decodes PNG, JPEG, BMP, WebP or TIFF (its first page), told apart by content, as Pillow's
/// Image.open() does: samples as the file stores them. Gamma and colour profiles change nothing,
/// alpha is dropped; CMYK becomes RGB as Pillow has it; EXIF orientation and samples of 16 bits are
/// as `reading` says. An image whose file says grey has 1 channel, any other 3. `path` is for
/// messages only. Throws Error naming `path`: unknown format, damaged or cut short, too large, an
/// unsupported kind.
Image decode_image(std::string_view bytes, const std::filesystem::path& path,
                   const ImageReading& reading = {});

/// Returns the least 2^n - 1, at least 255, that is at least the largest sample of 16-bit
/// files: what becomes white where nobody says it.
std::int64_t white_for(std::int64_t largest);

/// Returns a PNG file of an image with 1 or 3 channels. Throws Error where the sizes disagree.
std::string encode_png(const Image& image);
/// Returns a BMP file, uncompressed: 8 bits with a grey palette for 1 channel, else 24 bits.
std::string encode_bmp(const Image& image);

}  // namespace linnet
