// SPDX-License-Identifier: Apache-2.0
#include "formats/exif.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "formats/byte_order.h"
#include "formats/image_formats.h"
#include "formats/jpeg_segments.h"

namespace linnet {
namespace {

constexpr std::string_view kExif("Exif\0\0", 6);

/// Returns the orientation in a block of TIFF's form, Exif's own; 1 where it has none.
int orientation_of(std::string_view block) {
  constexpr std::size_t kEntry = 12;
  constexpr std::uint64_t kTag = 0x0112;
  if (block.starts_with(kExif)) block.remove_prefix(kExif.size());
  const bool little = block.starts_with(std::string_view("II*\0", 4));
  if (!little && !block.starts_with(std::string_view("MM\0*", 4))) return 1;
  const auto number = [&](std::size_t at, std::size_t bytes) {
    return little ? little_endian(block, at, bytes) : big_endian(block, at, bytes);
  };
  if (block.size() < 8) return 1;
  const std::size_t directory = number(4, 4);
  if (directory + 2 > block.size()) return 1;
  const std::size_t entries = number(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + i * kEntry;
    if (at + kEntry > block.size()) return 1;
    if (number(at, 2) != kTag) continue;
    const std::size_t value = number(at + 8, number(at + 2, 2) == 4 ? 4 : 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

int orientation_of_jpeg(std::string_view file) {
  std::size_t at = 2;
  while (const std::optional<JpegSegment> segment = next_jpeg_segment(file, at)) {
    if (segment->is_frame() || segment->ends_header()) return 1;
    if (at > file.size()) return 0;
    const std::string_view content = file.substr(segment->at, segment->length);
    if (segment->marker == 0xE1 && content.starts_with(kExif)) return orientation_of(content);
  }
  return 0;
}

int orientation_of_png(std::string_view file) {
  for (std::size_t at = 8; at + 8 <= file.size();) {
    const std::size_t length = big_endian(file, at, 4);
    const std::string_view kind = file.substr(at + 4, 4);
    if (kind == "IDAT") return 1;
    if (length > file.size() - at - 8) return 0;
    if (kind == "eXIf") return orientation_of(file.substr(at + 8, length));
    at += 12 + length;
  }
  return 0;
}

int orientation_of_webp(std::string_view file) {
  constexpr std::size_t kFlags = 20;
  constexpr std::size_t kHasExif = 8;
  const bool extended = file.substr(12, 4) == "VP8X" && file.size() > kFlags;
  if (!extended || (byte_at(file, kFlags) & kHasExif) == 0) return 1;
  for (std::size_t at = 12; at + 8 <= file.size();) {
    const std::size_t length = little_endian(file, at + 4, 4);
    if (length > file.size() - at - 8) return 0;
    if (file.substr(at, 4) == "EXIF") return orientation_of(file.substr(at + 8, length));
    at += 8 + length + length % 2;
  }
  return 0;
}

}  // namespace

int exif_orientation(std::string_view file) {
  switch (format_of(file)) {
    case StoredFormat::png: return orientation_of_png(file);
    case StoredFormat::jpeg: return orientation_of_jpeg(file);
    case StoredFormat::webp: return orientation_of_webp(file);
    case StoredFormat::tiff: return tiff_orientation(file);
    case StoredFormat::bmp:
    case StoredFormat::none: break;
  }
  return 1;
}

Image upright(Image image, int orientation) {
  if (orientation <= 1 || orientation > 8) return image;
  const bool turned = orientation >= kTurned;
  const bool from_bottom =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  Image result{.height = turned ? image.width : image.height,
               .width = turned ? image.height : image.width,
               .channels = image.channels,
               .pixels = std::vector<std::uint8_t>(image.pixels.size()),
               .largest = image.largest};
  const std::uint8_t* const from = image.pixels.data();
  std::uint8_t* to = result.pixels.data();
  for (std::int64_t y = 0; y < result.height; ++y) {
    for (std::int64_t x = 0; x < result.width; ++x, to += image.channels) {
      std::int64_t row = turned ? x : y;
      std::int64_t column = turned ? y : x;
      if (from_bottom) row = image.height - 1 - row;
      if (from_right) column = image.width - 1 - column;
      std::copy_n(from + (row * image.width + column) * image.channels, image.channels, to);
    }
  }
  return result;
}

}  // namespace linnet
