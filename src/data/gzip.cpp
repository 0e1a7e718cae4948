// SPDX-License-Identifier: Apache-2.0
#include "data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace linnet {
namespace {

constexpr std::size_t kFirstBlock = std::size_t{1} << 16;
constexpr int kGzipOnly = 16 + MAX_WBITS;

/// zlib counts in 32 bits.
uInt step_of(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}

class Inflater {
 public:
  Inflater() { require(inflateInit2(&stream_, kGzipOnly) == Z_OK, "zlib can't start"); }
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

std::string gunzip(std::string_view bytes, const std::filesystem::path& path, std::size_t limit) {
  Inflater inflater;
  std::string result;
  std::size_t used = 0;
  std::size_t read = 0;
  while (used < limit) {
    if (used == result.size()) {
      result.resize(std::min(limit, std::max(result.size() * 2, kFirstBlock)));
    }
    const uInt room = step_of(result.size() - used);
    const uInt given = step_of(bytes.size() - read);
    inflater->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
    inflater->avail_in = given;
    inflater->next_out = reinterpret_cast<Bytef*>(result.data() + used);
    inflater->avail_out = room;
    const int status = inflater.run();
    read += given - inflater->avail_in;
    used += room - inflater->avail_out;
    if (status == Z_STREAM_END) {
      // A gzip file may be several members one after the other.
      if (read == bytes.size()) break;
      require(is_gzip(bytes.substr(read)), "'{}' has {} bytes after the end of its gzip data",
              path.string(), bytes.size() - read);
      inflater.next_member();
    } else if (status == Z_BUF_ERROR ||
               (status == Z_OK && read == bytes.size() && inflater->avail_out > 0)) {
      fail("'{}' is cut short: its gzip data ends after {} unpacked bytes", path.string(), used);
    } else if (status != Z_OK) {
      fail("'{}' is damaged: {}", path.string(), inflater->msg ? inflater->msg : "bad gzip data");
    }
  }
  result.resize(used);
  return result;
}

}  // namespace linnet
