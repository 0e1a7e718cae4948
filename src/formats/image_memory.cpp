// SPDX-License-Identifier: Apache-2.0
#include "formats/image_memory.h"

#include <algorithm>

#include "formats/exif.h"
#include "formats/image_formats.h"

namespace linnet {
namespace {

constexpr std::size_t kFixed = std::size_t{128} << 10;  // tables of the libraries
constexpr std::size_t kRows = 128;                      // of rows under way, a pixel of width
constexpr std::size_t kTaps = 64;                       // weights of resizing, a pixel of a side

DecodingMemory decoding_memory(std::string_view file) {
  switch (format_of(file)) {
    case StoredFormat::png:
    case StoredFormat::bmp: {
      const ImageHeader header = image_header(file);
      const auto height = static_cast<std::size_t>(header.height);
      const auto width = static_cast<std::size_t>(header.width);
      const std::size_t samples = height * width * static_cast<std::size_t>(header.channels);
      return {.image = samples, .sides = height + width, .scratch = header.wide ? 2 * samples : 0};
    }
    case StoredFormat::jpeg: return jpeg_memory(file);
    case StoredFormat::webp: return webp_memory(file);
    case StoredFormat::tiff: return tiff_memory(file);
    case StoredFormat::none: break;
  }
  return {};
}

}  // namespace

std::size_t image_memory(std::string_view file, const ImageReading& reading, const Shape& record) {
  const DecodingMemory memory = decoding_memory(file);
  if (memory.image == 0) return 0;
  const bool copied = reading.exif != Exif::ignore && exif_orientation(file) != 1;
  const std::size_t sides = memory.sides + static_cast<std::size_t>(record[0] + record[1]);
  return memory.image + std::max(memory.scratch, copied ? memory.image : 0) +
         (kRows + kTaps) * sides + 8 * static_cast<std::size_t>(record.elements()) + kFixed;
}

}  // namespace linnet
