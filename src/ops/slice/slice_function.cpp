// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>
#include <algorithm>
#include <numeric>

#include "nn/expression/support.h"
#include "ops/slice/slice.h"
#include "ops/strided_slice/strided_slice.h"

namespace linnet {
namespace {

Expression with_steps(const Expression& x, StridedSliceAttrs attrs) {
  return per_sample(x, [&](const Expression& one) { return emit(StridedSliceOp(attrs), {one}); });
}

}  // namespace

Expression slice(const Expression& x, std::int64_t axis, std::int64_t begin, std::int64_t end,
                 std::int64_t step) {
  const int whole = whole_axis("slice", x, axis);
  const std::int64_t dim = x.shape()[whole - 1];
  const auto from_end = [&](std::int64_t place) { return place < 0 ? place + dim : place; };
  const std::int64_t first = from_end(begin);
  const std::int64_t last = end == kToEnd ? dim : from_end(end);
  require(0 <= first && first <= last && last <= dim && step > 0,
          "[slice] expected places within axis {} of samples of {} and a step above 0; got [{}, "
          "{}) in steps of {}",
          whole - 1, to_string(x.shape()), begin, end == kToEnd ? dim : end, step);
  const bool single = step >= last - first;  // the first alone, if any
  if (step > 1 && !single) {
    const std::int64_t count = (last - first + step - 1) / step;
    return with_steps(x, {.axis = whole, .begin = first, .step = step, .count = count});
  }
  return per_sample(x, [&](const Expression& one) {
    const std::int64_t until = single ? std::min(first + 1, last) : last;
    return emit(SliceOp({.axis = whole, .begin = first, .end = until}), {one});
  });
}

Expression flip(const Expression& x, std::int64_t axis) {
  const int whole = whole_axis("flip", x, axis);
  const std::int64_t dim = x.shape()[whole - 1];
  return with_steps(x, {.axis = whole, .begin = dim - 1, .step = -1, .count = dim});
}

std::vector<Expression> split(const Expression& x, const std::vector<std::int64_t>& dims,
                              std::int64_t axis) {
  axis = checked_axis("split", x, axis);
  const std::int64_t dim = x.shape()[static_cast<int>(axis)];
  const bool positive = std::ranges::all_of(dims, [](std::int64_t e) { return e > 0; });
  require(positive && std::accumulate(dims.begin(), dims.end(), std::int64_t{0}) == dim,
          "[split] expected dimensions that add up to the {} of axis {} of samples of {}; got ({})",
          dim, axis, to_string(x.shape()), fmt::join(dims, ", "));
  std::vector<Expression> parts;
  std::int64_t begin = 0;
  for (const std::int64_t part : dims) {
    parts.push_back(slice(x, axis, begin, begin + part));
    begin += part;
  }
  return parts;
}

}  // namespace linnet
