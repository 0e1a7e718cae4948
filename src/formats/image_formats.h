// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "formats/image.h"
#include "formats/image_header.h"

namespace linnet {

enum class StoredFormat : std::uint8_t { none, png, jpeg, bmp, webp, tiff };

/// Returns the format that a file's first bytes name.
StoredFormat format_of(std::string_view bytes);

/// Decode one format, each in its own file, the pixels in the order in which the file stores them;
/// decode_image() picks by the first bytes. `white` is as ImageReading says.
Image decode_png(std::string_view bytes, const std::filesystem::path& path, std::int64_t white = 0);
Image decode_jpeg(std::string_view bytes, const std::filesystem::path& path);
Image decode_bmp(std::string_view bytes, const std::filesystem::path& path);
Image decode_webp(std::string_view bytes, const std::filesystem::path& path);
Image decode_tiff(std::string_view bytes, const std::filesystem::path& path,
                  std::int64_t white = 0);

/// Return what a file's header says, all zeros where it can't be read. A TIFF's may stand anywhere.
ImageHeader webp_header(std::string_view start);
ImageHeader tiff_header(std::string_view file);

/// What decoding takes at most, beside some rows; zeros where the header can't be read, and
/// anything for an image that blank_image() refuses.
struct DecodingMemory {
  std::size_t image = 0;    ///< bytes of the image
  std::size_t sides = 0;    ///< its height and width
  std::size_t scratch = 0;  ///< bytes beside it
};
DecodingMemory jpeg_memory(std::string_view file);
DecodingMemory webp_memory(std::string_view start);
DecodingMemory tiff_memory(std::string_view file);

/// Returns the orientation that a TIFF file says, 1 where it can't be read.
int tiff_orientation(std::string_view file);

/// Returns an image of the right size in black. Throws Error where it is empty or above 64 million
/// pixels: a few damaged bytes of a header must not ask for all memory.
Image blank_image(std::int64_t height, std::int64_t width, std::int64_t channels,
                  const std::filesystem::path& path);

/// Puts samples of 16 bits into an image of as many bytes, as `white` says, and notes the largest.
void put_samples(std::span<const std::uint16_t> samples, std::int64_t white, Image& image);

}  // namespace linnet
