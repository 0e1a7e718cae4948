// SPDX-License-Identifier: Apache-2.0
#include "formats/xz.h"

#include <lzma.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.h"

namespace linnet {
namespace {

constexpr std::uint64_t kMostMemory = std::uint64_t{256} << 20;  // `xz -9` asks for 65 MiB

class Decoder {
 public:
  Decoder() {
    require(lzma_stream_decoder(&stream_, kMostMemory, LZMA_CONCATENATED) == LZMA_OK,
            "liblzma cannot start");
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { lzma_end(&stream_); }
  lzma_stream* operator->() { return &stream_; }
  lzma_ret run() { return lzma_code(&stream_, LZMA_FINISH); }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

std::string_view reason(lzma_ret status) {
  switch (status) {
    case LZMA_MEMLIMIT_ERROR: return "it needs more than 256 MiB to unpack";
    case LZMA_OPTIONS_ERROR: return "its header has options that liblzma does not know";
    case LZMA_FORMAT_ERROR: return "it holds no xz data";
    default: return "bad xz data";
  }
}

}  // namespace

bool is_xz(std::string_view bytes) {
  return bytes.starts_with(
      std::string_view("\xFD"
                       "7zXZ\0",
                       6));
}

void unxz(std::string_view bytes, const std::filesystem::path& path, std::size_t limit,
          const TakePiece& take) {
  Decoder decoder;
  decoder->next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  decoder->avail_in = bytes.size();
  std::vector<char> window(std::min(limit, kPieceBytes));
  std::size_t used = 0;
  while (used < limit) {
    const std::size_t room = std::min(window.size(), limit - used);
    decoder->next_out = reinterpret_cast<std::uint8_t*>(window.data());
    decoder->avail_out = room;
    const lzma_ret status = decoder.run();
    const std::size_t made = room - decoder->avail_out;
    used += made;
    require<OutOfMemory>(status != LZMA_MEM_ERROR, "out of memory while unpacking '{}'",
                         path.string());
    // All input was given at once: no room left is the only good reason to stop here.
    require<DataError>(status != LZMA_BUF_ERROR && (status != LZMA_OK || decoder->avail_out == 0),
                       "'{}' is cut short: its xz data ends after {} unpacked bytes", path.string(),
                       used);
    require<DataError>(status == LZMA_OK || status == LZMA_STREAM_END, "'{}' is damaged: {}",
                       path.string(), reason(status));
    if (made > 0 && !take({window.data(), made})) return;
    if (status == LZMA_STREAM_END) return;
  }
}

std::string unxz(std::string_view bytes, const std::filesystem::path& path, std::size_t limit) {
  return joined([&](const TakePiece& take) { unxz(bytes, path, limit, take); });
}

}  // namespace linnet
