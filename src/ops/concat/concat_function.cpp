// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "nn/expression/support.h"
#include "ops/concat/concat.h"

namespace linnet {

Expression concat(const std::vector<Expression>& parts, std::int64_t axis) {
  require(!parts.empty(), "[concat] expected at least one operand");
  const int whole = whole_axis("concat", parts[0], axis);
  if (std::ranges::none_of(parts, &Expression::batched)) {
    std::vector<Expression> ones;
    for (const Expression& part : parts) {
      ones.push_back(emit(ReshapeOp({.shape = dims_of(part.shape().batched(1))}), {part}));
    }
    const Expression y = emit(ConcatOp({.axis = whole}), ones);
    return emit(ReshapeOp({.shape = dims_of(whole_shape(y).sample())}), {y});
  }
  std::vector<Expression> all = parts;
  const Expression rows = *std::ranges::find_if(parts, &Expression::batched);
  for (Expression& part : all) {
    if (!part.batched()) part = expanded(part, part.shape(), rows);
  }
  return emit(ConcatOp({.axis = whole}), all);
}

Expression stack(const std::vector<Expression>& parts, std::int64_t axis) {
  require(!parts.empty(), "[stack] expected at least one operand");
  axis = checked_axis("stack", parts[0], axis, rank_of(parts[0]) + 1);
  std::vector<std::int64_t> dims = dims_of(parts[0].shape());
  dims.insert(dims.begin() + axis, 1);
  std::vector<Expression> all;
  for (const Expression& part : parts) {
    require(part.shape() == parts[0].shape(),
            "[stack] expected samples of one shape; got {} and {}", to_string(parts[0].shape()),
            to_string(part.shape()));
    all.push_back(reshaped(part, Shape(dims)));
  }
  return concat(all, axis);
}

}  // namespace linnet
