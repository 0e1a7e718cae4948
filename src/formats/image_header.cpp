// SPDX-License-Identifier: Apache-2.0
#include "formats/image_header.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "base/thread_team.h"
#include "formats/byte_order.h"
#include "formats/exif.h"
#include "formats/image_formats.h"
#include "formats/jpeg_segments.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

/// Bytes that are read of a file, in this order, until its header is whole: an embedded preview may
/// stand before what matters.
constexpr std::array<std::size_t, 3> kStarts{std::size_t{1} << 12, std::size_t{1} << 17,
                                             std::size_t{1} << 24};

ImageHeader header_of(std::int64_t channels, std::size_t height, std::size_t width) {
  return {channels, static_cast<std::int64_t>(height), static_cast<std::int64_t>(width)};
}

ImageHeader png_header(std::string_view bytes) {
  constexpr std::size_t kColourType = 25;
  if (bytes.size() <= kColourType) return {};
  const std::size_t type = byte_at(bytes, kColourType);
  // Grey, and grey with alpha.
  ImageHeader header =
      header_of(type == 0 || type == 4 ? 1 : 3, big_endian(bytes, 20, 4), big_endian(bytes, 16, 4));
  header.wide = byte_at(bytes, kColourType - 1) == 16;
  return header;
}

ImageHeader jpeg_header(std::string_view bytes) {
  std::size_t at = 2;
  while (const std::optional<JpegSegment> segment = next_jpeg_segment(bytes, at)) {
    if (segment->ends_header() || segment->at + 6 > bytes.size()) return {};
    if (!segment->is_frame()) continue;
    return header_of(byte_at(bytes, segment->at + 5) == 1 ? 1 : 3,
                     big_endian(bytes, segment->at + 1, 2), big_endian(bytes, segment->at + 3, 2));
  }
  return {};
}

/// As decode_bmp(): a palette of greys alone makes a grey image.
std::int64_t bmp_channels(std::string_view bytes) {
  const std::size_t bits = little_endian(bytes, 28, 2);
  if (bits > 8) return 3;
  const std::size_t claimed = little_endian(bytes, 46, 4);
  const std::size_t colours = claimed == 0 ? std::size_t{1} << bits : claimed;
  const std::size_t palette = 14 + little_endian(bytes, 14, 4);
  if (colours > 256 || palette > bytes.size() || bytes.size() - palette < 4 * colours) return 0;
  for (std::size_t at = palette; at < palette + 4 * colours; at += 4) {
    if (bytes[at] != bytes[at + 1] || bytes[at] != bytes[at + 2]) return 3;
  }
  return 1;
}

ImageHeader bmp_header(std::string_view bytes) {
  constexpr std::size_t kHeaders = 54;
  if (bytes.size() < kHeaders) return {};
  // A height below 0 counts rows from the top.
  const auto height = static_cast<std::int32_t>(little_endian(bytes, 22, 4));
  return {bmp_channels(bytes), std::abs(static_cast<std::int64_t>(height)),
          static_cast<std::int64_t>(little_endian(bytes, 18, 4))};
}

ImageHeader stored_header(std::string_view start) {
  switch (format_of(start)) {
    case StoredFormat::png: return png_header(start);
    case StoredFormat::jpeg: return jpeg_header(start);
    case StoredFormat::bmp: return bmp_header(start);
    case StoredFormat::webp: return webp_header(start);
    case StoredFormat::tiff: return tiff_header(start);
    case StoredFormat::none: break;
  }
  return {};
}

ImageHeader header_of_file(const fs::path& path, Exif exif) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  std::string start;
  for (const std::size_t size : kStarts) {
    const std::size_t before = start.size();
    start.resize(size);
    file.read(start.data() + before, static_cast<std::streamsize>(size - before));
    start.resize(before + static_cast<std::size_t>(file.gcount()));
    const bool whole = start.size() < size;
    if (format_of(start) == StoredFormat::tiff && !whole && size != kStarts.back()) continue;
    const ImageHeader header = image_header(start, exif);
    if (header.channels > 0 || whole) return header;
    if (format_of(start) == StoredFormat::none) return {};
  }
  return {};
}

}  // namespace

ImageHeader image_header(std::string_view start, Exif exif) {
  ImageHeader header = stored_header(start);
  if (exif == Exif::ignore) return header;
  const int orientation = exif_orientation(start);
  if (orientation == 0) return {};
  if (orientation >= kTurned) std::swap(header.height, header.width);
  return header;
}

std::vector<ImageHeader> image_headers(const std::vector<fs::path>& files, int threads, Exif exif) {
  constexpr std::size_t kBlock = 64;
  std::vector<ImageHeader> headers(files.size());
  ThreadTeam team(threads);
  const auto blocks = static_cast<std::uint32_t>((files.size() + kBlock - 1) / kBlock);
  run_tasks(team, blocks, [&](std::uint32_t block) {
    const std::size_t begin = block * kBlock;
    for (std::size_t i = begin; i < std::min(begin + kBlock, files.size()); ++i) {
      headers[i] = header_of_file(files[i], exif);
    }
  });
  return headers;
}

}  // namespace linnet
