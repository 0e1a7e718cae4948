// SPDX-License-Identifier: Apache-2.0
#include "formats/image.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"
#include "base/memory.h"
#include "formats/exif.h"
#include "formats/image_formats.h"

namespace linnet {
namespace {

constexpr std::int64_t kMostPixels = std::int64_t{1} << 26;

}  // namespace

Image blank_image(std::int64_t height, std::int64_t width, std::int64_t channels,
                  const std::filesystem::path& path) {
  require<DataError>(height > 0 && width > 0,
                     "'{}' is an image of {} x {} pixels; expected at least one", path.string(),
                     height, width);
  require<DataError>(height <= kMostPixels / width, "'{}' has {} x {} pixels; expected at most {}",
                     path.string(), height, width, kMostPixels);
  return in_memory(
      fmt::format("'{}', an image of {} x {} pixels,", path.string(), height, width), [&] {
        Image image{.height = height, .width = width, .channels = channels, .pixels = {}};
        image.pixels.resize(static_cast<std::size_t>(height * width * channels));
        return image;
      });
}

void put_samples(std::span<const std::uint16_t> samples, std::int64_t white, Image& image) {
  LINNET_ASSERT(samples.size() == image.pixels.size());
  const auto most = static_cast<std::uint32_t>(white);
  std::uint16_t largest = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::uint32_t sample = samples[i];
    largest = std::max(largest, samples[i]);
    image.pixels[i] = static_cast<std::uint8_t>(
        white == 0 ? sample >> 8 : (std::min(sample, most) * 255 + most / 2) / most);
  }
  image.largest = largest;
}

std::int64_t white_for(std::int64_t largest) {
  const auto next =
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(largest, 0)) + 1);
  return std::max<std::int64_t>(255, static_cast<std::int64_t>(next) - 1);
}

StoredFormat format_of(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return StoredFormat::png;
  if (bytes.starts_with("\xff\xd8\xff")) return StoredFormat::jpeg;
  if (bytes.starts_with("BM")) return StoredFormat::bmp;
  if (bytes.starts_with("RIFF") && bytes.size() > 12 && bytes.substr(8, 4) == "WEBP")
    return StoredFormat::webp;
  // Little and big endian, each with offsets of 32 or (BigTIFF) 64 bits.
  for (const std::string_view start :
       {std::string_view("II*\0", 4), std::string_view("MM\0*", 4), std::string_view("II+\0", 4),
        std::string_view("MM\0+", 4)}) {
    if (bytes.starts_with(start)) return StoredFormat::tiff;
  }
  return StoredFormat::none;
}

namespace {

Image decode_stored(std::string_view bytes, const std::filesystem::path& path, std::int64_t white) {
  switch (format_of(bytes)) {
    case StoredFormat::png: return decode_png(bytes, path, white);
    case StoredFormat::jpeg: return decode_jpeg(bytes, path);
    case StoredFormat::bmp: return decode_bmp(bytes, path);
    case StoredFormat::webp: return decode_webp(bytes, path);
    case StoredFormat::tiff: return decode_tiff(bytes, path, white);
    case StoredFormat::none: break;
  }
  fail<DataError>(
      "'{}' is not a PNG, JPEG, BMP, WebP or TIFF image: it has {} bytes and none of their "
      "signatures",
      path.string(), bytes.size());
}

}  // namespace

Image decode_image(std::string_view bytes, const std::filesystem::path& path,
                   const ImageReading& reading) {
  Image image = decode_stored(bytes, path, reading.white);
  if (reading.exif == Exif::ignore) return image;
  return upright(std::move(image), exif_orientation(bytes));
}

}  // namespace linnet
