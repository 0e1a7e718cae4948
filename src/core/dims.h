// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/types.h>

#include <cstdint>
#include <vector>

namespace linnet {

/// Returns the dimensions of a shape, to be changed.
inline std::vector<std::int64_t> dims_of(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}

}  // namespace linnet
