// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "nn/expression/support.h"
#include "ops/concat/concat.h"
#include "ops/gather/gather.h"
#include "ops/gather_axis/gather_axis.h"
#include "ops/one_hot/one_hot.h"
#include "ops/pad/pad.h"
#include "ops/slice/axis.h"
#include "ops/slice/slice.h"
#include "ops/strided_slice/strided_slice.h"
#include "ops/transpose/transpose.h"

namespace linnet {
namespace {

/// Returns an axis that counts the batch.
int whole_axis(std::string_view function, const Expression& x, std::int64_t axis) {
  return static_cast<int>(checked_axis(function, x, axis) + 1);
}

Expression with_steps(const Expression& x, StridedSliceAttrs attrs) {
  return per_sample(x, [&](const Expression& one) { return emit(StridedSliceOp(attrs), {one}); });
}

void require_ids(std::string_view function, const Expression& ids) {
  require(ids.dtype() == DType::i32, "[{}] expected ids of i32; got {} {}", function,
          to_string(ids.dtype()), to_string(ids.shape()));
}

}  // namespace

Expression reshape(const Expression& x, Shape sample) {
  require(sample.elements() == x.shape().elements(),
          "[reshape] expected a shape of {} elements for {}; got {}", x.shape().elements(),
          to_string(x.shape()), to_string(sample));
  return emit(ReshapeOp({.shape = dims_of(x.batched() ? sample.batched(-1) : sample)}), {x});
}

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

Expression pad(const Expression& x, std::int64_t axis, std::int64_t before, std::int64_t after,
               double value) {
  const int whole = whole_axis("pad", x, axis);
  require(before >= 0 && after >= 0, "[pad] expected counts of at least 0; got {} and {}", before,
          after);
  return per_sample(x, [&](const Expression& one) {
    return emit(PadOp({.axis = whole, .before = before, .after = after, .value = value}), {one});
  });
}

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

Expression one_hot(const Expression& ids, std::int64_t classes) {
  require_ids("one_hot", ids);
  require(classes >= 1, "[one_hot] expected at least one class; got {}", classes);
  return emit(OneHotOp({.classes = classes}), {ids});
}

}  // namespace linnet
