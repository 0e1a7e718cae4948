// SPDX-License-Identifier: Apache-2.0
#include "data/image_header.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "base/thread_team.h"

namespace linnet {
namespace {

namespace fs = std::filesystem;

/// Bytes that are read of a file, in this order, until its header is whole: an embedded preview may
/// stand before what matters.
constexpr std::array<std::size_t, 3> kStarts{std::size_t{1} << 12, std::size_t{1} << 17,
                                             std::size_t{1} << 24};

std::size_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}
std::size_t little_endian(std::string_view bytes, std::size_t at, int count) {
  std::size_t value = 0;
  for (int i = count; i-- > 0;)
    value = value << 8 | byte_at(bytes, at + static_cast<std::size_t>(i));
  return value;
}

std::size_t big_endian(std::string_view bytes, std::size_t at, std::size_t count) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | byte_at(bytes, at + i);
  return value;
}
ImageHeader header_of(std::int64_t channels, std::size_t height, std::size_t width) {
  return {channels, static_cast<std::int64_t>(height), static_cast<std::int64_t>(width)};
}

ImageHeader png_header(std::string_view bytes) {
  constexpr std::size_t kColourType = 25;
  if (bytes.size() <= kColourType) return {};
  const std::size_t type = byte_at(bytes, kColourType);
  // Grey, and grey with alpha.
  return header_of(type == 0 || type == 4 ? 1 : 3, big_endian(bytes, 20, 4),
                   big_endian(bytes, 16, 4));
}

/// Goes from marker to marker up to the frame's.
ImageHeader jpeg_header(std::string_view bytes) {
  for (std::size_t at = 2; at + 9 < bytes.size();) {
    if (byte_at(bytes, at) != 0xFF) return {};
    const std::size_t marker = byte_at(bytes, at + 1);
    if (marker == 0xFF) {  // padding
      ++at;
      continue;
    }
    const bool frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (frame) {
      return header_of(byte_at(bytes, at + 9) == 1 ? 1 : 3, big_endian(bytes, at + 5, 2),
                       big_endian(bytes, at + 7, 2));
    }
    if (marker == 0xDA || marker == 0xD9) return {};
    at += 2 + big_endian(bytes, at + 2, 2);
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

ImageHeader header_of_file(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  std::string start;
  for (const std::size_t size : kStarts) {
    const std::size_t before = start.size();
    start.resize(size);
    file.read(start.data() + before, static_cast<std::streamsize>(size - before));
    start.resize(before + static_cast<std::size_t>(file.gcount()));
    const ImageHeader header = image_header(start);
    if (header.channels > 0 || start.size() < size) return header;
    if (!start.starts_with("\xff\xd8\xff")) return {};
  }
  return {};
}

class ReadHeaders final : public StagedWork {
 public:
  explicit ReadHeaders(const std::vector<fs::path>& files)
      : files_(files), headers_(files.size()) {}
  std::uint64_t stages() const override { return 1; }
  std::uint32_t tasks(std::uint64_t /*stage*/) const override {
    return static_cast<std::uint32_t>((files_.size() + kBlock - 1) / kBlock);
  }
  void run(std::uint64_t /*stage*/, std::uint32_t task, int /*thread*/) override {
    const std::size_t begin = task * kBlock;
    for (std::size_t i = begin; i < std::min(begin + kBlock, files_.size()); ++i) {
      headers_[i] = header_of_file(files_[i]);
    }
  }
  std::vector<ImageHeader> take() { return std::move(headers_); }

 private:
  static constexpr std::size_t kBlock = 64;
  const std::vector<fs::path>& files_;
  std::vector<ImageHeader> headers_;
};

}  // namespace

ImageHeader image_header(std::string_view start) {
  if (start.starts_with("\x89PNG\r\n\x1a\n")) return png_header(start);
  if (start.starts_with("\xff\xd8\xff")) return jpeg_header(start);
  if (start.starts_with("BM")) return bmp_header(start);
  return {};
}

std::vector<ImageHeader> image_headers(const std::vector<fs::path>& files, int threads) {
  ReadHeaders work(files);
  ThreadTeam(threads).run(work);
  return work.take();
}

}  // namespace linnet
