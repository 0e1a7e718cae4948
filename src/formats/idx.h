// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace linnet {

/// An array of bytes from an IDX file, the format of MNIST (yann.lecun.com/exdb/mnist).
struct IdxArray {
  std::vector<std::int64_t> dims;   ///< e.g. {60000, 28, 28}
  std::vector<std::uint8_t> bytes;  ///< row-major
};

/// Reads an IDX file of unsigned bytes, plain or gzip by its content. The file must have `rank`
/// dimensions and exactly the bytes these call for; nothing is allocated on a header's word alone.
/// Throws Error naming the file, and what was expected and found.
IdxArray read_idx(const std::filesystem::path& path, int rank);

}  // namespace linnet
