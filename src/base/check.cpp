// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <string_view>

namespace linnet {

void internal_failure(const char* condition, const char* file, int line) {
  // cmake/LinnetJoin.cmake includes files by a path that goes up first.
  std::string_view source = file;
  const std::size_t up = source.rfind("/../");
  if (up != std::string_view::npos) source.remove_prefix(up + 4);
  throw InternalError(
      fmt::format("{}:{}: '{}' does not hold; this is a bug in Linnet", source, line, condition));
}

}  // namespace linnet
