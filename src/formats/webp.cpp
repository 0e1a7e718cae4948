// SPDX-License-Identifier: Apache-2.0
#include <webp/decode.h>

#include "base/check.h"
#include "formats/image_formats.h"

namespace linnet {
namespace {

const std::uint8_t* bytes_of(std::string_view file) {
  return reinterpret_cast<const std::uint8_t*>(file.data());
}

}  // namespace

ImageHeader webp_header(std::string_view start) {
  WebPBitstreamFeatures features{};
  if (WebPGetFeatures(bytes_of(start), start.size(), &features) != VP8_STATUS_OK) return {};
  return {.channels = 3, .height = features.height, .width = features.width};
}

DecodingMemory webp_memory(std::string_view start) {
  constexpr int kLossy = 1;
  WebPBitstreamFeatures features{};
  if (WebPGetFeatures(bytes_of(start), start.size(), &features) != VP8_STATUS_OK) return {};
  const auto height = static_cast<std::size_t>(features.height);
  const auto width = static_cast<std::size_t>(features.width);
  const std::size_t pixels = height * width;
  // Lossless images, and planes of alpha, are unpacked whole: four bytes a pixel, and the plane.
  const bool whole = features.format != kLossy || features.has_alpha != 0;
  return {.image = 3 * pixels, .sides = height + width, .scratch = whole ? 5 * pixels : 0};
}

Image decode_webp(std::string_view bytes, const std::filesystem::path& path) {
  WebPBitstreamFeatures features{};
  require<DataError>(WebPGetFeatures(bytes_of(bytes), bytes.size(), &features) == VP8_STATUS_OK,
                     "'{}' is a damaged WebP: its header is cut short or no header", path.string());
  require<DataError>(features.has_animation == 0,
                     "'{}' is a WebP animation; expected one still image", path.string());
  Image image = blank_image(features.height, features.width, 3, path);
  const bool whole =
      WebPDecodeRGBInto(bytes_of(bytes), bytes.size(), image.pixels.data(), image.pixels.size(),
                        static_cast<int>(image.width * image.channels)) != nullptr;
  require<DataError>(whole, "'{}' is a damaged WebP: its pixels are cut short or damaged",
                     path.string());
  return image;
}

}  // namespace linnet
