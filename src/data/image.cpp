// SPDX-License-Identifier: Apache-2.0
#include "data/image.h"

#include "base/check.h"
#include "base/memory.h"
#include "data/image_formats.h"

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

Image decode_image(std::string_view bytes, const std::filesystem::path& path) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return decode_png(bytes, path);
  if (bytes.starts_with("\xff\xd8\xff")) return decode_jpeg(bytes, path);
  if (bytes.starts_with("BM")) return decode_bmp(bytes, path);
  fail<DataError>(
      "'{}' is not a PNG, JPEG or BMP image: it has {} bytes and none of their signatures",
      path.string(), bytes.size());
}

}  // namespace linnet
