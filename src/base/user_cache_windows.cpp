// SPDX-License-Identifier: Apache-2.0
#include "base/console.h"
#include "base/user_cache.h"

namespace linnet {

std::filesystem::path user_cache() {
  const char* data = environment("LOCALAPPDATA");
  return data == nullptr ? std::filesystem::path()
                         : std::filesystem::path(data) / "linnet" / "cache";
}

}  // namespace linnet
