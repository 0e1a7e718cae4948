// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>
#include <algorithm>
#include <numeric>

#include "nn/expression/support.h"
#include "ops/transpose/transpose.h"

namespace linnet {

Expression transpose(const Expression& x, const Axes& permutation) {
  Axes places = permutation;
  std::ranges::sort(places);
  Axes all(static_cast<std::size_t>(rank_of(x)));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  require(places == all, "[transpose] expected each of {} axes once; got ({}) for samples of {}",
          all.size(), fmt::join(permutation, ", "), to_string(x.shape()));
  TransposeAttrs attrs{.permutation = {0}};
  for (const std::int64_t axis : permutation) attrs.permutation.push_back(axis + 1);
  return per_sample(x, [&](const Expression& one) { return emit(TransposeOp(attrs), {one}); });
}

}  // namespace linnet
