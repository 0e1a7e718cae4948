// SPDX-License-Identifier: Apache-2.0
#include "data/idx.h"

#include <fmt/ranges.h>

#include <limits>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/files.h"
#include "data/gzip.h"

namespace linnet {
namespace {

constexpr std::uint32_t kUnsignedBytes = 0x08;

std::uint32_t big_endian(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  }
  return value;
}

struct Header {
  std::vector<std::int64_t> extents;
  std::size_t payload = 1;
};

Header parse_header(std::string_view bytes, int rank, const std::filesystem::path& path) {
  const std::size_t header_bytes = 4 + 4 * static_cast<std::size_t>(rank);
  require(bytes.size() >= header_bytes,
          "'{}' is cut short: an IDX header of {} extents takes {} bytes, the file has {}",
          path.string(), rank, header_bytes, bytes.size());
  const std::uint32_t expected = kUnsignedBytes << 8 | static_cast<std::uint32_t>(rank);
  const std::uint32_t magic = big_endian(bytes, 0);
  require(magic == expected,
          "'{}' is no IDX file of bytes with {} extents: expected magic {:#010x}, got {:#010x}",
          path.string(), rank, expected, magic);
  Header header;
  for (int axis = 0; axis < rank; ++axis) {
    const std::uint32_t extent = big_endian(bytes, 4 + 4 * static_cast<std::size_t>(axis));
    header.extents.push_back(extent);
    require(extent == 0 || header.payload <= std::numeric_limits<std::int64_t>::max() / extent,
            "'{}' claims more elements than memory can hold", path.string());
    header.payload *= extent;
  }
  return header;
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& path, int rank) {
  std::string content = read_file(path);
  const std::size_t header_bytes = 4 + 4 * static_cast<std::size_t>(rank);
  const bool packed = is_gzip(content);
  Header header = parse_header(packed ? gunzip(content, path, header_bytes) : content, rank, path);
  // One byte more than wanted tells a file that is too long, and lets gzip reach its check sum.
  if (packed) content = gunzip(content, path, header_bytes + header.payload + 1);
  const std::size_t found = content.size() - header_bytes;
  require(found == header.payload, "'{}' claims {} = {} bytes after its header, but {} {}",
          path.string(), fmt::join(header.extents, " x "), header.payload,
          found < header.payload ? "has only" : "goes on to at least", found);
  return {.extents = std::move(header.extents),
          .bytes = {content.begin() + static_cast<std::ptrdiff_t>(header_bytes), content.end()}};
}

}  // namespace linnet
