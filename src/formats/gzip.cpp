// SPDX-License-Identifier: Apache-2.0
#include "formats/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/check.h"

namespace linnet {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;

/// zlib counts in 32 bits.
uInt step_of(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

class Inflater {
 public:
  Inflater() { require(inflateInit2(&stream_, kGzipOnly) == Z_OK, "zlib cannot start"); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }
  z_stream* operator->() { return &stream_; }
  int run() { return inflate(&stream_, Z_NO_FLUSH); }
  void next_member() { inflateReset(&stream_); }

 private:
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

void gunzip(std::string_view bytes, const std::filesystem::path& path, std::size_t limit,
            const TakePiece& take) {
  Inflater inflater;
  std::vector<char> window(std::min(limit, kPieceBytes));
  std::size_t used = 0;
  std::size_t read = 0;
  while (used < limit) {
    const uInt room = static_cast<uInt>(std::min(window.size(), limit - used));
    const uInt given = step_of(bytes.size() - read);
    inflater->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    inflater->avail_in = given;
    inflater->next_out = reinterpret_cast<Bytef*>(window.data());
    inflater->avail_out = room;
    const int status = inflater.run();
    const std::size_t made = room - inflater->avail_out;
    read += given - inflater->avail_in;
    used += made;
    if (status == Z_BUF_ERROR ||
        (status == Z_OK && read == bytes.size() && inflater->avail_out > 0)) {
      fail<DataError>("'{}' is cut short: its gzip data ends after {} unpacked bytes",
                      path.string(), used);
    }
    require<DataError>(status == Z_OK || status == Z_STREAM_END, "'{}' is damaged: {}",
                       path.string(), inflater->msg ? inflater->msg : "bad gzip data");
    if (made > 0 && !take({window.data(), made})) return;
    if (status != Z_STREAM_END) continue;
    // A gzip file may be several members one after the other.
    if (read == bytes.size()) return;
    require<DataError>(is_gzip(bytes.substr(read)), "'{}' has {} bytes after its gzip data",
                       path.string(), bytes.size() - read);
    inflater.next_member();
  }
}

std::string gunzip(std::string_view bytes, const std::filesystem::path& path, std::size_t limit) {
  return joined([&](const TakePiece& take) { gunzip(bytes, path, limit, take); });
}

}  // namespace linnet
