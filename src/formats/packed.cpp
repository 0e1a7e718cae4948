// SPDX-License-Identifier: Apache-2.0
#include "formats/packed.h"

#include <limits>
#include <vector>

#include "base/check.h"
#include "base/files.h"
#include "formats/gzip.h"
#include "formats/xz.h"

namespace linnet {
namespace {

constexpr std::size_t kSignature = 6;  // bytes that tell gzip, xz or neither

void read_plain(InputFile& file, std::vector<char>& window, std::size_t count,
                const TakePiece& take) {
  while (count > 0 && take({window.data(), count})) {
    if (count < window.size()) return;  // the end
    count = file.read(window);
  }
}

}  // namespace

void read_pieces(const std::filesystem::path& path, std::size_t limit, const TakePiece& take) {
  std::size_t taken = 0;
  const auto limited = [&](std::string_view piece) {
    taken += piece.size();
    require<DataError>(taken <= limit, "'{}' unpacks to more than {} bytes", path.string(), limit);
    return take(piece);
  };
  InputFile file(path);
  std::vector<char> window(kPieceBytes);
  const std::size_t count = file.read(window);
  const std::string_view start(window.data(), std::min(count, kSignature));
  const bool gzip = is_gzip(start);
  if (!gzip && !is_xz(start)) return read_plain(file, window, count, limited);
  const std::string packed = read_file(path);
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  if (gzip) {
    gunzip(packed, path, kAll, limited);
  } else {
    unxz(packed, path, kAll, limited);
  }
}

std::string read_unpacked(const std::filesystem::path& path, std::size_t limit) {
  return joined([&](const TakePiece& take) { read_pieces(path, limit, take); });
}

}  // namespace linnet
