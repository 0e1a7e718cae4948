// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/functions.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/dims.h"
#include "nn/expression_scope.h"
#include "ops/reshape/reshape.h"

namespace linnet {

// What functions on expressions share. Inside the library an axis counts the batch, so that axis 0
// of a sample is 1; weights are taken as the one sample of a batch.

/// Returns how errors call a function: "add", in a layer of your own "add 'swish_1'".
std::string called(std::string_view function, const Expression& x);
/// With the batch, where there is one.
const Shape& whole_shape(const Expression& x);
/// Returns the axes of a sample.
std::int64_t rank_of(const Expression& x);

/// From 0 on; `rank`: how many there are. Throws Error naming the function and the shape.
std::int64_t checked_axis(std::string_view function, const Expression& x, std::int64_t axis,
                          std::int64_t rank);
inline std::int64_t checked_axis(std::string_view function, const Expression& x,
                                 std::int64_t axis) {
  return checked_axis(function, x, axis, rank_of(x));
}
/// Ascending; all of them where none are given. Throws Error for an axis that stands there twice.
Axes checked_axes(std::string_view function, const Expression& x, const Axes& axes);

/// Returns an axis that counts the batch.
inline int whole_axis(std::string_view function, const Expression& x, std::int64_t axis) {
  return static_cast<int>(checked_axis(function, x, axis) + 1);
}
/// Throws Error naming the function for ids that are not of i32.
void require_ids(std::string_view function, const Expression& ids);

/// x under another shape of a sample; x itself where it has that.
Expression reshaped(const Expression& x, const Shape& sample);

/// f of x, which gets a batch: that of weights is taken off again.
template <class F>
Expression per_sample(const Expression& x, F f) {
  if (x.batched()) return f(x);
  const Expression one = emit(ReshapeOp({.shape = dims_of(x.shape().batched(1))}), {x});
  const Expression y = f(one);
  return emit(ReshapeOp({.shape = dims_of(whole_shape(y).sample())}), {y});
}

/// Returns the shape that samples of these shapes are repeated to; throws Error naming the
/// function.
Shape common_shape(std::string_view function, const std::vector<Expression>& operands);
/// x repeated to samples of `shape`, for each sample of `rows` where that has a batch.
Expression expanded(const Expression& x, const Shape& shape, const Expression& rows);
/// Returns the operands repeated to their common shape, all with a batch if one has.
std::vector<Expression> expanded_to_common(std::string_view function,
                                           std::vector<Expression> operands);

/// Returns what `add` adds, whose operators together keep each step of x apart: it has x's lengths.
template <class F>
Expression keeping_steps(const Expression& x, F add) {
  NetworkBuilder* builder = x.scope()->builder;
  if (builder == nullptr || !x.batched()) return add();
  Expression y = x;
  builder->keep_steps({x.value()}, [&] {
    y = add();
    return Value{y.value()};
  });
  return y;
}

}  // namespace linnet
