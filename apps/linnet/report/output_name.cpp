// SPDX-License-Identifier: Apache-2.0
#include "report/output_name.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "describe/nearest.h"

namespace linnet::command {

void require_extension(const std::string& path, const std::vector<std::string>& extensions) {
  const std::string found = std::filesystem::path(path).extension().string();
  require(found.empty() || std::ranges::count(extensions, found) > 0,
          "--output '{}': expected a name that ends in {}", path, listed(extensions));
}

}  // namespace linnet::command
