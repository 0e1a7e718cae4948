// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/types.h>

#include <string>
#include <string_view>

#include "base/check.h"

namespace linnet {

/// Throws Error unless x is (N, T, features).
inline void require_sequences(std::string_view kind, const std::string& layer, const Shape& x) {
  require(x.rank() == 3, "[{} '{}'] expected sequences (N, T, features); got {}", kind, layer,
          to_string(x));
}

}  // namespace linnet
