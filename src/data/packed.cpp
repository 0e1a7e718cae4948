// SPDX-License-Identifier: Apache-2.0
#include "data/packed.h"

#include "base/check.h"
#include "base/files.h"
#include "data/gzip.h"
#include "data/xz.h"

namespace linnet {

std::string read_unpacked(const std::filesystem::path& path, std::size_t limit) {
  std::string content = read_file(path);
  // One byte more than allowed tells a file that is too long.
  if (is_gzip(content)) content = gunzip(content, path, limit + 1);
  if (is_xz(content)) content = unxz(content, path, limit + 1);
  require(content.size() <= limit, "'{}' has more than {} bytes unpacked", path.string(), limit);
  return content;
}

}  // namespace linnet
