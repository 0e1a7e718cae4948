// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace linnet {

/// Returns the channels that decode_image() gives a file beginning with `start`: 1 or 3; 0 where
/// so few bytes do not tell, or belong to no image.
std::int64_t channels_in_header(std::string_view start);

/// Returns the same of a file, of which it reads no more than it needs; 0 where it can't be read.
std::int64_t channels_of_file(const std::filesystem::path& path);

/// Image files by their channels; those whose header does not tell are in neither.
struct ColourCount {
  std::int64_t grey = 0;
  std::int64_t colour = 0;
};
/// Reads the headers on `threads` threads (0: all processors).
ColourCount count_colours(const std::vector<std::filesystem::path>& files, int threads);

}  // namespace linnet
