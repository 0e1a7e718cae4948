// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "nn/expression/support.h"
#include "ops/expand/expand.h"

namespace linnet {

Expression expand(const Expression& x, const Shape& sample) {
  const std::vector<std::int64_t> from = dims_of(x.shape());
  const std::span<const std::int64_t> to = sample.dims();
  bool fits = from.size() <= to.size();
  for (std::size_t i = 1; fits && i <= from.size(); ++i) {
    fits = from[from.size() - i] == 1 || from[from.size() - i] == to[to.size() - i];
  }
  require(fits && std::ranges::all_of(to, [](std::int64_t dim) { return dim > 0; }),
          "[expand] expected a shape whose last axes are those of {} but where they are 1; got {}",
          to_string(x.shape()), to_string(sample));
  return expanded(x, sample, x);
}

}  // namespace linnet
