// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "formats/byte_order.h"

namespace linnet {

struct JpegSegment {
  std::size_t marker;
  std::size_t at;      ///< of its content
  std::size_t length;  ///< of its content, as it says: the file may end before

  /// Returns whether it holds a frame's header, which has the image's size.
  bool is_frame() const {
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
  }
  /// Returns whether pixels or the file's end follow.
  bool ends_header() const { return marker == 0xDA || marker == 0xD9; }
};

/// Returns the segment that begins at `at` or later, as libjpeg finds it: what stands between two
/// segments is skipped. None where the bytes end before its length. `at` is then where to look for
/// the next one.
inline std::optional<JpegSegment> next_jpeg_segment(std::string_view file, std::size_t& at) {
  while (at + 1 < file.size()) {
    const std::size_t marker = byte_at(file, at + 1);
    const bool is_marker = byte_at(file, at) == 0xFF && marker != 0 && marker != 0xFF;
    if (!is_marker) {
      ++at;
      continue;
    }
    const bool lone = marker == 0x01 || (marker >= 0xD0 && marker <= 0xD9);
    if (!lone && at + 4 > file.size()) return std::nullopt;
    const std::size_t length = lone ? 0 : std::max<std::size_t>(big_endian(file, at + 2, 2), 2) - 2;
    const JpegSegment segment{marker, at + (lone ? 2 : 4), length};
    at = segment.at + length;
    return segment;
  }
  return std::nullopt;
}

}  // namespace linnet
