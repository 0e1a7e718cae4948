// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "nn/expression/support.h"
#include "ops/group_norm/group_norm.h"

namespace linnet {
namespace {

/// Returns the shape that a reduction leaves.
Shape reduced_shape(const Shape& shape, const Axes& axes, bool keep_dims) {
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const bool reduced = std::ranges::binary_search(axes, static_cast<std::int64_t>(i));
    if (!reduced || keep_dims) dims.push_back(reduced ? 1 : shape.dims()[i]);
  }
  return Shape(dims);
}

/// Returns the product along one axis, of which one element is left.
Expression product_along(Expression x, std::int64_t axis) {
  for (std::int64_t dim = x.shape()[static_cast<int>(axis)]; dim > 1;) {
    const std::int64_t half = dim / 2;
    const Expression pairs = slice(x, axis, 0, half) * slice(x, axis, half, 2 * half);
    x = dim % 2 == 0 ? pairs : concat({pairs, slice(x, axis, 2 * half)}, axis);
    dim = half + dim % 2;
  }
  return x;
}

}  // namespace

Expression prod(const Expression& x, Axes axes, bool keep_dims) {
  axes = checked_axes("prod", x, axes);
  Expression y = x;
  for (const std::int64_t axis : axes) y = product_along(y, axis);
  return reshaped(y, reduced_shape(x.shape(), axes, keep_dims));
}

Expression var(const Expression& x, Axes axes, bool keep_dims, double correction) {
  axes = checked_axes("var", x, axes);
  double elements = 1;
  for (const std::int64_t axis : axes) {
    elements *= static_cast<double>(x.shape()[static_cast<int>(axis)]);
  }
  require(elements > correction,
          "[var] expected more elements along the axes than the correction of {}; got {} for "
          "samples of {}",
          correction, elements, to_string(x.shape()));
  const Expression biased = mean(square(x - mean(x, axes, true)), axes, keep_dims);
  return correction == 0 ? biased : biased * (elements / (elements - correction));
}

Expression stddev(const Expression& x, Axes axes, bool keep_dims, double correction) {
  return sqrt(var(x, std::move(axes), keep_dims, correction));
}

Expression log_sum_exp(const Expression& x, Axes axes, bool keep_dims) {
  axes = checked_axes("log_sum_exp", x, axes);
  const Expression largest = max(x, axes, true);
  const Expression y = log(sum(exp(x - largest), axes, true)) + largest;
  return reshaped(y, reduced_shape(x.shape(), axes, keep_dims));
}

Expression any(const Expression& x, Axes axes, bool keep_dims) {
  return max(not_equal(x, 0), std::move(axes), keep_dims);
}
Expression all(const Expression& x, Axes axes, bool keep_dims) {
  return min(not_equal(x, 0), std::move(axes), keep_dims);
}

Expression layer_norm(const Expression& x, double epsilon) {
  require(rank_of(x) > 0, "[layer_norm] expected samples of at least one axis; got {}",
          to_string(x.shape()));
  const Expression centred = x - mean(x, {-1}, true);
  return centred * rsqrt(mean(square(centred), {-1}, true) + epsilon);
}

namespace {

/// Throws Error unless weight and bias are weights of the last `axes` axes of x.
void require_norm(std::string_view function, const Expression& x, const Expression& weight,
                  const Expression& bias, std::size_t axes) {
  const Shape whole = x.shape();
  const Shape w = weight.shape();
  bool fits = !weight.batched() && !bias.batched() && w == bias.shape() && w.rank() == axes &&
              axes >= 1 && whole.rank() >= axes;
  for (std::size_t i = 1; fits && i <= axes; ++i) {
    const auto from_end = -static_cast<std::int64_t>(i);
    fits = whole[from_end] == w[from_end];
  }
  require(fits,
          "[{}] expected a weight and a bias of the shape of the last {} of samples of {}; got {} "
          "and {}",
          function, axes == 1 ? "axis" : "axes", to_string(whole), to_string(w),
          to_string(bias.shape()));
}

void require_epsilon(std::string_view function, double epsilon) {
  require(epsilon > 0, "[{}] expected an epsilon above 0; got {}", function, epsilon);
}

}  // namespace

Expression layer_norm(const Expression& x, const Expression& weight, const Expression& bias,
                      double epsilon) {
  const std::size_t axes = weight.shape().rank();
  require_norm("layer_norm", x, weight, bias, axes);
  require_epsilon("layer_norm", epsilon);
  return per_sample(x, [&](const Expression& one) {
    const auto channels = static_cast<std::int64_t>(axes);
    const std::int64_t rows = rank_of(one) + 1 - channels;
    return emit(GroupNormOp({.epsilon = epsilon, .rows = rows, .channels = channels}),
                {one, weight, bias});
  });
}

Expression group_norm(const Expression& x, std::int64_t groups, const Expression& weight,
                      const Expression& bias, double epsilon) {
  require_norm("group_norm", x, weight, bias, 1);
  require_epsilon("group_norm", epsilon);
  require(groups >= 1 && x.shape()[-1] % groups == 0,
          "[group_norm] expected groups that divide {} channels; got {}", x.shape()[-1], groups);
  return per_sample(x, [&](const Expression& one) {
    return emit(GroupNormOp({.epsilon = epsilon, .groups = groups}), {one, weight, bias});
  });
}

}  // namespace linnet
