// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/pad/pad.h"

namespace linnet {

Expression pad(const Expression& x, std::int64_t axis, std::int64_t before, std::int64_t after,
               double value) {
  const int whole = whole_axis("pad", x, axis);
  require(before >= 0 && after >= 0, "[pad] expected counts of at least 0; got {} and {}", before,
          after);
  return per_sample(x, [&](const Expression& one) {
    return emit(PadOp({.axis = whole, .before = before, .after = after, .value = value}), {one});
  });
}

}  // namespace linnet
