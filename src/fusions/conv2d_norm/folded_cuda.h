// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cuda/kernel.h"
#include "backend/cuda/workspace.h"
#include "fusions/conv2d_norm/conv2d_norm.h"

namespace linnet::cuda {

/// An engine of a Conv2dOp's node with one operand more, the last: y = f(conv2d(...) + residual).
using PrepareResidual = std::optional<Kernel> (*)(const NodeView& node, const Context& context,
                                                  Activation activation);

/// Returns a Conv2dNormOp's kernel by `engine`, which takes Conv2dOps, on folded weights and bias.
/// Where these follow from weights that stay, they are folded once. In 16 bits the folded weights
/// are rounded, and the bias where the engine wants it so. A residual is added by `with_residual`
/// where that is given and takes it, else in a pass of its own. Null where the engine does not take
/// the convolution.
std::optional<Kernel> folded_conv2d(const NodeView& node, const Context& context, Prepare engine,
                                    PrepareResidual with_residual = nullptr);

// What else is launched, for host code that no nvcc compiles.

/// Folded weights and after them biases, as an engine takes them.
struct Folded {
  Conv2dNormAttrs attrs;
  DType type;
  std::int64_t channels;
  std::int64_t taps;  ///< of a channel

  std::size_t biases_at() const { return library_padded(bytes_of(channels * taps)); }
  std::size_t bytes() const { return library_padded(biases_at() + bytes_of(channels)); }

 private:
  std::size_t bytes_of(std::int64_t elements) const {
    return size_of(type) * static_cast<std::size_t>(elements);
  }
};

/// weights = w gamma / std, biases = beta + (b - mean) gamma / std, none beyond +-limit
void enqueue_fold(const Args& args, const Folded& folded, float limit, std::byte* to);

/// y = f(z + residual), the last operand; z is f32 or of y's type, and may be y. A residual of
/// another type than y has 16 bits, and y and z have 32.
void enqueue_residual(const Args& args, Activation activation, const ValueType& y, const void* z,
                      DType z_type, DType residual);

}  // namespace linnet::cuda
