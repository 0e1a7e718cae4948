// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "ops/expand/expand.h"

namespace linnet {
namespace {

/// Returns the shape with `rank` axes, the missing ones before its own.
Shape with_rank(const Shape& shape, std::size_t rank) {
  std::vector<std::int64_t> dims(rank - shape.rank(), 1);
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  return Shape(dims);
}

/// x (N, ...) of as many axes as `to`: one ExpandOp for each run of axes, the last one first.
Expression expanded_axes(Expression x, const Shape& to) {
  std::vector<std::int64_t> dims = dims_of(whole_shape(x).sample());
  const std::vector<std::int64_t> wanted = dims_of(to);
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == wanted[i]) continue;
    dims[i] = wanted[i];
    if (i > 0 && dims[i - 1] != wanted[i - 1]) continue;  // the same run
    x = emit(ExpandOp({.shape = dims}), {x});
  }
  return x;
}

}  // namespace

std::string called(std::string_view function, const Expression& x) {
  const std::string& layer = x.scope()->name;
  return layer.empty() ? std::string(function) : fmt::format("{} '{}'", function, layer);
}

const Shape& whole_shape(const Expression& x) { return x.scope()->graph.shape({x.value()}); }

std::int64_t rank_of(const Expression& x) { return static_cast<std::int64_t>(x.shape().rank()); }

std::int64_t checked_axis(std::string_view function, const Expression& x, std::int64_t axis,
                          std::int64_t rank) {
  require(axis >= -rank && axis < rank,
          "[{}] expected an axis of [{}, {}); got {} for samples of {}", called(function, x), -rank,
          rank, axis, to_string(x.shape()));
  return axis < 0 ? axis + rank : axis;
}

Axes checked_axes(std::string_view function, const Expression& x, const Axes& axes) {
  Axes checked;
  for (const std::int64_t axis : axes) checked.push_back(checked_axis(function, x, axis));
  for (std::int64_t i = 0; axes.empty() && i < rank_of(x); ++i) checked.push_back(i);
  std::ranges::sort(checked);
  require(std::ranges::adjacent_find(checked) == checked.end(),
          "[{}] expected each axis once; got ({}) for samples of {}", called(function, x),
          fmt::join(axes, ", "), to_string(x.shape()));
  return checked;
}

void require_ids(std::string_view function, const Expression& ids) {
  require(ids.dtype() == DType::i32, "[{}] expected ids of i32; got {} {}", function,
          to_string(ids.dtype()), to_string(ids.shape()));
}

Expression reshaped(const Expression& x, const Shape& sample) {
  if (x.shape() == sample) return x;
  return emit(ReshapeOp({.shape = dims_of(x.batched() ? sample.batched(-1) : sample)}), {x});
}

Shape common_shape(std::string_view function, const std::vector<Expression>& operands) {
  std::size_t rank = 0;
  for (const Expression& x : operands) rank = std::max(rank, x.shape().rank());
  std::vector<std::int64_t> dims(rank, 1);
  bool fit = true;
  for (const Expression& x : operands) {
    const Shape shape = with_rank(x.shape(), rank);
    for (std::size_t i = 0; i < rank; ++i) {
      const std::int64_t dim = shape.dims()[i];
      fit = fit && (dim == 1 || dims[i] == 1 || dim == dims[i]);
      if (dim != 1) dims[i] = dim;
    }
  }
  if (!fit) {
    std::vector<std::string> shapes;
    for (const Expression& x : operands) shapes.push_back(to_string(x.shape()));
    fail(
        "[{}] expected samples whose dimensions, counted from the last axis, are equal, 1 or "
        "missing; "
        "got {}",
        called(function, operands[0]), fmt::join(shapes, " and "));
  }
  return Shape(dims);
}

Expression expanded(const Expression& x, const Shape& shape, const Expression& rows) {
  if (x.batched() || !rows.batched()) {
    if (x.shape() == shape) return x;
    return per_sample(reshaped(x, with_rank(x.shape(), shape.rank())),
                      [&](const Expression& one) { return expanded_axes(one, shape); });
  }
  return emit(ExpandOp({.shape = dims_of(shape)}), {expanded(x, shape, x), rows});
}

std::vector<Expression> expanded_to_common(std::string_view function,
                                           std::vector<Expression> operands) {
  const Shape shape = common_shape(function, operands);
  const auto batched = std::ranges::find_if(operands, &Expression::batched);
  const Expression rows = batched == operands.end() ? operands[0] : *batched;
  for (Expression& x : operands) x = expanded(x, shape, rows);
  return operands;
}

}  // namespace linnet
