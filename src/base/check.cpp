// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

namespace linnet {

void internal_failure(const char* condition, const char* file, int line) {
  throw InternalError(
      fmt::format("{}:{}: '{}' does not hold; this is a bug in Linnet", file, line, condition));
}

}  // namespace linnet
