// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/cumsum/cumsum.h"

namespace linnet {

Expression cumsum(const Expression& x, std::int64_t axis, bool reverse) {
  const int whole = whole_axis("cumsum", x, axis);
  return per_sample(x, [&](const Expression& one) {
    return emit(CumsumOp({.axis = whole, .reverse = reverse}), {one});
  });
}

}  // namespace linnet
