// SPDX-License-Identifier: Apache-2.0
#include "formats/zip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/memory.h"

namespace linnet {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034B50;
constexpr std::uint32_t kDirectoryEntry = 0x02014B50;
constexpr std::uint32_t kEnd = 0x06054B50;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kMostComment = 65535;
constexpr std::uint64_t kZip64 = 0xFFFFFFFF;  // such a field stands in a zip64 record
constexpr std::uint64_t kMostUnpacked = std::uint64_t{1} << 32;  // of all: zip64 begins there
constexpr std::uint64_t kMostRatio = 1032;  // deflate packs at most so many bytes into one
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
constexpr std::uint16_t kEncrypted = 1;          // a bit of the flags
constexpr std::uint16_t kUtf8Names = 1U << 11U;  // another
constexpr std::uint16_t kVersion = 20;           // that a reader needs: 2.0
constexpr std::uint16_t kFirstDate = 0x21;       // 1980-01-01

/// Returns a number of `size` bytes, little-endian.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  LINNET_ASSERT(at + size <= bytes.size());
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return value;
}

void add_number(std::string& to, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to += static_cast<char>(value >> (8 * i) & 0xFFU);
}

/// zlib counts in 32 bits.
uInt step_of(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

std::uint32_t crc_of(std::uint32_t crc, std::string_view bytes) {
  while (!bytes.empty()) {
    const uInt step = step_of(bytes.size());
    crc =
        static_cast<std::uint32_t>(crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), step));
    bytes.remove_prefix(step);
  }
  return crc;
}

/// Returns where the record at the end of the archive stands: nothing but its comment follows it.
std::size_t find_end(std::string_view file) {
  for (std::size_t comment = 0; comment <= kMostComment; ++comment) {
    if (file.size() < kEndBytes + comment) break;
    const std::size_t at = file.size() - kEndBytes - comment;
    if (number(file, at, 4) == kEnd && number(file, at + 20, 2) == comment) return at;
  }
  fail<DataError>("it is cut short or not a zip archive: its end record is missing");
}

/// Reads the entry of the directory at `at`, and moves `at` to the next one.
ZipEntry read_entry(std::string_view directory, std::size_t& at) {
  require<DataError>(directory.size() - at >= kEntryBytes &&
                         number(directory, at, 4) == kDirectoryEntry,
                     "its directory is damaged at byte {}", at);
  const std::size_t name = number(directory, at + 28, 2);
  const std::size_t rest = number(directory, at + 30, 2) + number(directory, at + 32, 2);
  require<DataError>(directory.size() - at - kEntryBytes >= name + rest,
                     "its directory ends early, at byte {}", at);
  ZipEntry entry;
  entry.name = directory.substr(at + kEntryBytes, name);
  const std::uint64_t flags = number(directory, at + 8, 2);
  const std::uint64_t method = number(directory, at + 10, 2);
  entry.deflated = method == kDeflated;
  entry.crc = static_cast<std::uint32_t>(number(directory, at + 16, 4));
  entry.packed = number(directory, at + 20, 4);
  entry.bytes = number(directory, at + 24, 4);
  entry.start = number(directory, at + 42, 4);
  require<DataError>((flags & kEncrypted) == 0, "'{}' in it is encrypted", entry.name);
  require<DataError>(method == kStored || method == kDeflated,
                     "'{}' in it is compressed by method {}; expected 0 (stored) or 8 (deflate)",
                     entry.name, method);
  require<DataError>(entry.packed != kZip64 && entry.bytes != kZip64 && entry.start != kZip64,
                     "'{}' in it needs zip64, for archives above 2 GiB: use .safetensors",
                     entry.name);
  require<DataError>(entry.deflated ? entry.bytes <= kMostRatio * (entry.packed + 1)
                                    : entry.bytes == entry.packed,
                     "'{}' in it cannot unpack from {} to {} bytes", entry.name, entry.packed,
                     entry.bytes);
  at += kEntryBytes + name + rest;
  return entry;
}

/// Finds the packed bytes after the entry's local header. `body`: what stands before the directory.
/// Returns where they end.
std::uint64_t find_data(std::string_view body, ZipEntry& entry) {
  const std::uint64_t start = entry.start;
  require<DataError>(start <= body.size() && body.size() - start >= kLocalBytes &&
                         number(body, start, 4) == kLocalHeader,
                     "'{}' in it has no header at byte {}", entry.name, start);
  const std::uint64_t name = number(body, start + 26, 2);
  const std::uint64_t begin = start + kLocalBytes + name + number(body, start + 28, 2);
  require<DataError>(begin <= body.size() && body.size() - begin >= entry.packed,
                     "'{}' in it is cut short", entry.name);
  require<DataError>(body.substr(start + kLocalBytes, name) == entry.name,
                     "'{}' in it has another name in its header", entry.name);
  entry.data = body.substr(begin, entry.packed);
  return begin + entry.packed;
}

class Inflater {
 public:
  explicit Inflater(const ZipEntry& entry) : entry_(&entry), left_(entry.data) {
    if (entry.deflated) require(inflateInit2(&stream_, -MAX_WBITS) == Z_OK, "zlib cannot start");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (entry_->deflated) inflateEnd(&stream_);
  }

  std::size_t read(std::span<char> to) {
    const std::size_t wanted = std::min<std::uint64_t>(to.size(), entry_->bytes - made_);
    const std::span<char> part = to.first(wanted);
    if (entry_->deflated) {
      inflate_into(part);
    } else {
      std::ranges::copy(left_.substr(0, wanted), part.begin());
      left_.remove_prefix(wanted);
    }
    made_ += wanted;
    crc_ = crc_of(crc_, {part.data(), part.size()});
    require<DataError>(made_ < entry_->bytes || crc_ == entry_->crc,
                       "'{}' in it is damaged: its CRC-32 is wrong", entry_->name);
    return wanted;
  }

 private:
  void inflate_into(std::span<char> to) {
    while (!to.empty()) {
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(left_.data()));
      stream_.avail_in = step_of(left_.size());
      stream_.next_out = reinterpret_cast<Bytef*>(to.data());
      stream_.avail_out = step_of(to.size());
      const uInt given = stream_.avail_in;
      const uInt room = stream_.avail_out;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      left_.remove_prefix(given - stream_.avail_in);
      const uInt made = room - stream_.avail_out;
      to = to.subspan(made);
      require<DataError>((status == Z_OK || status == Z_STREAM_END) && (made > 0 || to.empty()),
                         "'{}' in it is damaged: {}", entry_->name,
                         stream_.msg != nullptr ? stream_.msg : "its deflate data ends early");
    }
  }

  const ZipEntry* entry_;
  std::string_view left_;
  z_stream stream_{};
  std::uint64_t made_ = 0;
  std::uint32_t crc_ = 0;
};

}  // namespace

ZipFile::ZipFile(const std::filesystem::path& path)
    : bytes_(std::make_shared<const std::string>(read_file(path))) {
  const std::string_view file = *bytes_;
  try {
    in_memory("its directory", [&] {
      const std::size_t end = find_end(file);
      const std::uint64_t count = number(file, end + 10, 2);
      const std::uint64_t size = number(file, end + 12, 4);
      const std::uint64_t start = number(file, end + 16, 4);
      require<DataError>(number(file, end + 4, 4) == 0 && number(file, end + 8, 2) == count,
                         "it is one of several disks");
      require<DataError>(start != kZip64 && size != kZip64,
                         "it needs zip64, for archives above 2 GiB: use .safetensors");
      require<DataError>(start <= end && end - start == size,
                         "its directory of {} bytes at byte {} does not end at byte {}", size,
                         start, end);
      const std::string_view directory = file.substr(start, size);
      std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
      std::set<std::string_view> names;
      std::uint64_t unpacked = 0;
      std::size_t at = 0;
      entries_.reserve(size / kEntryBytes);  // so that the views of names stay
      while (at < directory.size()) {
        entries_.push_back(read_entry(directory, at));
        ZipEntry& entry = entries_.back();
        require<DataError>(names.insert(entry.name).second, "it holds '{}' twice", entry.name);
        unpacked += entry.bytes;  // each at most 2^32, and the directory has at most 2^16
        require<DataError>(unpacked <= kMostUnpacked,
                           "its files have more than {} bytes in all; use .safetensors",
                           kMostUnpacked);
        places.emplace_back(entry.start, find_data(file.substr(0, start), entry));
      }
      require<DataError>(entries_.size() == count, "its directory has {} entries instead of {}",
                         entries_.size(), count);
      std::ranges::sort(places);
      for (std::size_t i = 1; i < places.size(); ++i) {
        require<DataError>(places[i - 1].second <= places[i].first, "files in it overlap");
      }
    });
  } catch (const Error& error) {
    fail_again<DataError>(error, "cannot read '{}': {}", path.string(), error.what());
  }
}

ReadBytes ZipFile::open(const ZipEntry& entry) {
  return [inflater = std::make_shared<Inflater>(entry)](std::span<char> to) {
    return inflater->read(to);
  };
}

void write_zip(const std::filesystem::path& path, std::span<const ZipSource> files) {
  std::vector<std::string> headers;
  headers.reserve(files.size());  // the pieces are views of them
  std::vector<std::string_view> pieces;
  std::string directory;
  std::uint64_t offset = 0;
  for (const ZipSource& file : files) {
    std::uint64_t size = 0;
    std::uint32_t crc = 0;
    for (const std::string_view piece : file.pieces) {
      size += piece.size();
      crc = crc_of(crc, piece);
    }
    require(offset + size < kZip64 && file.name.size() < kMostComment &&
                files.size() < kMostComment,
            "cannot write '{}': a zip archive holds less than 4 GiB and 65,535 files; use "
            ".safetensors",
            path.string());
    std::string common;  // of the local header and the directory's entry
    add_number(common, kVersion, 2);
    add_number(common, kUtf8Names, 2);
    add_number(common, kStored, 2);
    add_number(common, 0, 2);
    add_number(common, kFirstDate, 2);
    add_number(common, crc, 4);
    add_number(common, size, 4);
    add_number(common, size, 4);
    add_number(common, file.name.size(), 2);
    add_number(common, 0, 2);
    std::string& header = headers.emplace_back();
    add_number(header, kLocalHeader, 4);
    header += common + file.name;
    add_number(directory, kDirectoryEntry, 4);
    add_number(directory, kVersion, 2);
    directory += common;
    directory.append(2 + 2 + 2 + 4, '\0');  // no comment; the first disk; plain attributes
    add_number(directory, offset, 4);
    directory += file.name;
    pieces.emplace_back(header);
    pieces.insert(pieces.end(), file.pieces.begin(), file.pieces.end());
    offset += header.size() + size;
  }
  require(offset + directory.size() < kZip64,
          "cannot write '{}': a zip archive holds less than 4 GiB; use .safetensors",
          path.string());
  std::string end;
  add_number(end, kEnd, 4);
  add_number(end, 0, 4);
  add_number(end, files.size(), 2);
  add_number(end, files.size(), 2);
  add_number(end, directory.size(), 4);
  add_number(end, offset, 4);
  add_number(end, 0, 2);
  pieces.emplace_back(directory);
  pieces.emplace_back(end);
  write_file_atomically(path, pieces);
}

}  // namespace linnet
