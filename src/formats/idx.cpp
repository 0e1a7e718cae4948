// SPDX-License-Identifier: Apache-2.0
#include "formats/idx.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/memory.h"
#include "formats/packed.h"

namespace linnet {
namespace {

constexpr std::uint32_t kUnsignedBytes = 0x08;
constexpr std::size_t kMostPacking = 1032;
constexpr std::size_t kMostElements = std::numeric_limits<std::int64_t>::max();

std::uint32_t big_endian(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  }
  return value;
}

struct Header {
  std::vector<std::int64_t> dims;
  std::size_t payload = 1;
};

Header parse_header(std::string_view bytes, int rank, const std::filesystem::path& path) {
  const std::size_t header_bytes = 4 + 4 * static_cast<std::size_t>(rank);
  require<DataError>(
      bytes.size() >= header_bytes,
      "'{}' is cut short: an IDX header of {} dimensions takes {} bytes, the file has {}",
      path.string(), rank, header_bytes, bytes.size());
  const std::uint32_t expected = kUnsignedBytes << 8 | static_cast<std::uint32_t>(rank);
  const std::uint32_t magic = big_endian(bytes, 0);
  require<DataError>(
      magic == expected,
      "'{}' is not an IDX file of bytes with {} dimensions: expected magic {:#010x}, got {:#010x}",
      path.string(), rank, expected, magic);
  Header header;
  for (int axis = 0; axis < rank; ++axis) {
    const std::uint32_t dim = big_endian(bytes, 4 + 4 * static_cast<std::size_t>(axis));
    header.dims.push_back(dim);
    require<DataError>(dim == 0 || header.payload <= kMostElements / dim,
                       "'{}' gives more elements than memory can hold", path.string());
    header.payload *= dim;
  }
  return header;
}

/// Takes the header, then exactly the bytes that it calls for and one that is too many.
class Collector {
 public:
  Collector(const std::filesystem::path& path, int rank, std::size_t most_bytes)
      : path_(path), rank_(rank), most_bytes_(most_bytes) {}

  bool take(std::string_view piece) {
    const std::size_t wanted = 4 + 4 * static_cast<std::size_t>(rank_) - start_.size();
    start_ += piece.substr(0, wanted);
    if (piece.size() < wanted) return true;
    if (wanted > 0) {
      header_ = parse_header(start_, rank_, path_);
      bytes_.reserve(std::min(header_.payload, most_bytes_));
    }
    piece.remove_prefix(wanted);
    const std::size_t room = header_.payload - bytes_.size();
    too_long_ = piece.size() > room;
    piece = piece.substr(0, room);
    bytes_.insert(bytes_.end(), piece.begin(), piece.end());
    return !too_long_;
  }

  IdxArray finish() {
    if (header_.dims.empty()) parse_header(start_, rank_, path_);  // says how short it is
    require<DataError>(!too_long_ && bytes_.size() == header_.payload,
                       "'{}' gives {} = {} bytes after its header, but {} {}", path_.string(),
                       fmt::join(header_.dims, " x "), header_.payload,
                       too_long_ ? "goes on to at least" : "has only",
                       bytes_.size() + (too_long_ ? 1 : 0));
    return {.dims = std::move(header_.dims), .bytes = std::move(bytes_)};
  }

 private:
  const std::filesystem::path& path_;
  int rank_;
  std::size_t most_bytes_;
  std::string start_;
  Header header_;
  std::vector<std::uint8_t> bytes_;
  bool too_long_ = false;
};

}  // namespace

IdxArray read_idx(const std::filesystem::path& path, int rank) {
  const std::uint64_t packed = InputFile(path).bytes();
  // What a header claims is believed as far as the file can hold it: deflate packs 1032 to 1.
  Collector collector(path, rank, static_cast<std::size_t>(packed) * kMostPacking);
  return in_memory(fmt::format("'{}'", path.string()), [&] {
    read_pieces(path, std::numeric_limits<std::size_t>::max(),
                [&](std::string_view piece) { return collector.take(piece); });
    return collector.finish();
  });
}

}  // namespace linnet
