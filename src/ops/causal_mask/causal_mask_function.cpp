// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/causal_mask/causal_mask.h"

namespace linnet {

Expression causal_mask(const Expression& scores, double fill) {
  require(rank_of(scores) >= 2, "[causal_mask] expected scores (..., queries, keys); got {}",
          to_string(scores.shape()));
  return per_sample(scores, [&](const Expression& one) {
    return emit(CausalMaskOp({.fill = fill}), {one});
  });
}

}  // namespace linnet
