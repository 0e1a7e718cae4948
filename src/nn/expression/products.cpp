// SPDX-License-Identifier: Apache-2.0
#include "nn/expression/support.h"
#include "nn/layers/dense.h"
#include "ops/dense/dense.h"
#include "ops/matmul/matmul.h"

namespace linnet {
namespace {

/// Returns the matrices of each sample transposed.
Expression swapped_matrices(const Expression& x) {
  Axes axes;
  for (std::int64_t i = 0; i < rank_of(x); ++i) axes.push_back(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return transpose(x, axes);
}

/// Returns the rows of x, along its last axis, times a weight (units, features).
Expression times_weight(const Expression& x, const Expression& weight) {
  const auto multiply = [&] {
    const Shape shape = x.shape();
    std::vector<std::int64_t> dims = dims_of(shape);
    const Expression rows = x.batched() && shape.rank() > 1
                                ? emit(ReshapeOp({.shape = {-1, shape[-1]}}), {x})
                            : !x.batched() ? reshaped(x, {shape.elements() / shape[-1], shape[-1]})
                                           : x;
    const Expression y = emit(DenseOp(), {rows, weight});
    dims.back() = weight.shape()[0];
    const Shape sample(dims);
    if (!x.batched()) return reshaped(y, sample);
    return shape.rank() > 1 ? emit(ReshapeOp({.shape = dims_of(sample.batched(-1))}), {y}) : y;
  };
  // A sample of one axis is steps where it has lengths.
  return x.shape().rank() > 1 ? keeping_steps(x, multiply) : multiply();
}

bool is_matrix_weight(const Expression& x) { return !x.batched() && x.shape().rank() == 2; }

Shape leading(const Shape& shape) { return Shape(shape.dims().first(shape.rank() - 2)); }

/// (leading..., the last two of x)
Shape with_leading(const Shape& leading, const Shape& x) {
  std::vector<std::int64_t> dims = dims_of(leading);
  dims.push_back(x[-2]);
  dims.push_back(x[-1]);
  return Shape(dims);
}

/// Multiplies samples of two axes or more.
Expression product(const Expression& a, const Expression& b, const MatmulOptions& options) {
  if (is_matrix_weight(b)) {
    return times_weight(options.transpose_a ? swapped_matrices(a) : a,
                        options.transpose_b ? b : swapped_matrices(b));
  }
  if (is_matrix_weight(a)) {  // (bᵀ aᵀ)ᵀ
    return swapped_matrices(
        product(b, a, {.transpose_a = !options.transpose_b, .transpose_b = !options.transpose_a}));
  }
  const Expression& rows = a.batched() ? a : b;
  Expression left = a;
  Expression right = b;
  if (leading(a.shape()) != leading(b.shape()) || a.batched() != b.batched()) {
    // Shapes of the leading axes alone, for their rule and its error.
    const std::size_t rank = std::max(a.shape().rank(), b.shape().rank()) - 2;
    std::vector<std::int64_t> dims(rank, 1);
    for (const Shape& shape : {leading(a.shape()), leading(b.shape())}) {
      for (std::size_t i = 0; i < shape.rank(); ++i) {
        std::int64_t& dim = dims[rank - shape.rank() + i];
        require(dim == 1 || shape.dims()[i] == 1 || dim == shape.dims()[i],
                "[matmul] expected leading axes that are equal, 1 or missing; got {} and {}",
                to_string(a.shape()), to_string(b.shape()));
        if (shape.dims()[i] != 1) dim = shape.dims()[i];
      }
    }
    left = expanded(a, with_leading(Shape(dims), a.shape()), rows);
    right = expanded(b, with_leading(Shape(dims), b.shape()), rows);
  }
  if (!a.batched() && !b.batched()) {
    const auto one = [](const Expression& x) {
      return emit(ReshapeOp({.shape = dims_of(x.shape().batched(1))}), {x});
    };
    const Expression y =
        emit(MatmulOp({.transpose_a = options.transpose_a, .transpose_b = options.transpose_b}),
             {one(left), one(right)});
    return emit(ReshapeOp({.shape = dims_of(whole_shape(y).sample())}), {y});
  }
  return emit(MatmulOp({.transpose_a = options.transpose_a, .transpose_b = options.transpose_b}),
              {left, right});
}

}  // namespace

Expression matmul(const Expression& a, const Expression& b, const MatmulOptions& options) {
  const std::size_t rank_a = a.shape().rank();
  const std::size_t rank_b = b.shape().rank();
  const auto fail_on = [&] {
    fail("[matmul] expected a (..., m, k) and b (..., k, n), or their transposes; got {} and {}{}",
         to_string(a.shape()), to_string(b.shape()),
         options.transpose_a && options.transpose_b ? ", both transposed"
         : options.transpose_a                      ? ", a transposed"
         : options.transpose_b                      ? ", b transposed"
                                                    : "");
  };
  if (rank_a == 0 || rank_b == 0) fail_on();
  const Expression left = rank_a == 1 ? reshaped(a, {1, a.shape()[0]}) : a;
  const Expression right = rank_b == 1 ? reshaped(b, {b.shape()[0], 1}) : b;
  const MatmulOptions flags{.transpose_a = options.transpose_a && rank_a > 1,
                            .transpose_b = options.transpose_b && rank_b > 1};
  if (left.shape()[flags.transpose_a ? -2 : -1] != right.shape()[flags.transpose_b ? -1 : -2]) {
    fail_on();
  }
  const Expression y = product(left, right, flags);
  std::vector<std::int64_t> dims = dims_of(y.shape());
  if (rank_b == 1) dims.pop_back();
  if (rank_a == 1) dims.erase(dims.end() - (rank_b == 1 ? 1 : 2));
  return reshaped(y, Shape(dims));
}

Expression linear(const Expression& x, const Expression& weight) {
  require(is_matrix_weight(weight) && x.shape().rank() > 0 && x.shape()[-1] == weight.shape()[1],
          "[linear] expected x (..., features) and a weight (units, features); got {} and {}",
          to_string(x.shape()), to_string(weight.shape()));
  return times_weight(x, weight);
}

}  // namespace linnet
