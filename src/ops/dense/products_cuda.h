// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "backend/cuda/kernel.h"
#include "backend/cuda/matmul.h"
#include "ops/activation/activation.h"
#include "ops/dense/dense.h"
#include "runtime/node_view.h"

namespace linnet::cuda {

// The matrix products of a dense layer's operators, whichever engine computes them.

/// Computes y (N, units) = x (N, features) wᵀ
inline MatrixProduct dense_product(const NodeView& node) {
  using In = DenseOp::In;
  return {.m = node.in(In::x)[0],
          .n = node.in(In::w)[0],
          .k = node.in(In::x)[1],
          .transpose_b = true};
}

/// Computes dx (N, features) = dz (N, units) w
inline MatrixProduct dense_grad_input_product(const NodeView& node) {
  using In = DenseGradInputOp::In;
  return {.m = node.in(In::dz)[0], .n = node.in(In::w)[1], .k = node.in(In::dz)[1]};
}

/// Computes dw (units, features) = dzᵀ x, a sum over the batch
inline MatrixProduct dense_grad_weight_product(const NodeView& node) {
  using In = DenseGradWeightOp::In;
  return {.m = node.in(In::dz)[1],
          .n = node.in(In::x)[1],
          .k = node.in(In::dz)[0],
          .transpose_a = true};
}

/// What follows a product: a bias is operand 2.
struct ProductTail {
  bool bias = false;
  Activation activation = Activation::none;
};

/// A node's result as the product of its first two operands, A and B.
struct NodeProduct {
  MatrixProduct product = {};
  bool tf32 = false;     ///< whether f32 operands may be rounded to TF32
  bool swapped = false;  ///< B is operand 0, and A operand 1
  ProductTail tail = {};
};

/// Returns cuBLASLt's kernel for it, and one of Linnet's for what its epilogues leave. Null where
/// it has none, and for products so thin that Linnet's own kernels are better.
std::optional<Kernel> cublaslt_product(const NodeView& node, const Context& context,
                                       const NodeProduct& wished);

}  // namespace linnet::cuda
