// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace linnet {

/// What the header of an image file says; zeros where it does not.
struct ImageHeader {
  std::int64_t channels = 0;  ///< that decode_image() gives: 1 or 3
  std::int64_t height = 0;
  std::int64_t width = 0;
  bool wide = false;  ///< whether its samples have 16 bits
};

/// Returns what the first bytes of a file say, of an image that is upright where `exif` says so;
/// all zeros where so few bytes do not tell, or belong to no image.
ImageHeader image_header(std::string_view start, Exif exif = Exif::ignore);

/// Returns the headers of files, of which it reads no more than it needs, on `threads` threads (0:
/// all processors); all zeros for one that can't be read.
std::vector<ImageHeader> image_headers(const std::vector<std::filesystem::path>& files, int threads,
                                       Exif exif);

}  // namespace linnet
