// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "ops/gather/gather.h"
#include "ops/gather_axis/gather_axis.h"
#include "ops/slice/axis.h"

namespace linnet {

Expression gather(const Expression& x, const Expression& ids, std::int64_t axis) {
  require_ids("gather", ids);
  const int whole = whole_axis("gather", x, axis);
  require(ids.batched(), "[gather] expected ids of each sample; got {}", to_string(ids.shape()));
  if (x.batched()) return emit(GatherAxisOp({.axis = whole, .along = false}), {x, ids});
  require(whole == 1, "[gather] expected axis 0 of weights {}; got {}", to_string(x.shape()), axis);
  return emit(GatherOp(), {x, ids});
}

Expression take_along_axis(const Expression& x, const Expression& ids, std::int64_t axis) {
  require_ids("take_along_axis", ids);
  const int whole = whole_axis("take_along_axis", x, axis);
  require(x.batched() && ids.batched() && x.shape().rank() == ids.shape().rank() &&
              with_dim(x.shape(), whole - 1, 0) == with_dim(ids.shape(), whole - 1, 0),
          "[take_along_axis] expected ids of the dimensions of {} but along axis {}; got {}",
          to_string(x.shape()), whole - 1, to_string(ids.shape()));
  return emit(GatherAxisOp({.axis = whole, .along = true}), {x, ids});
}

}  // namespace linnet
