// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cpu/stored.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {

// Convolutions by own bfloat16 products (bf16_tiles.h) of stored bfloat16s or of f32 operands,
// which are rounded block by block while they are in the cache. Without groups and dilation. A
// dense layer is a convolution of images of one pixel. Null where the processor has no such
// products, or the shape is another.

/// On f32 operands alone.
const ConvEngine& bf16_tiles_engine();

/// What follows the sums of an output channel, each null or one float a channel (the residual: of
/// y's shape): y = f(scale sum + bias + residual).
struct Bf16Tail {
  const float* scale = nullptr;
  const float* bias = nullptr;
  const void* residual = nullptr;  ///< of y's type; with relu or no activation
};
/// Finds it at run time; `packed` is what follows in Args::packed after the engine's own.
using FindBf16Tail = std::function<Bf16Tail(const Args&, const std::byte* packed)>;

/// Returns the tail of operand Conv2dOp::In::b, if it is there.
FindBf16Tail bf16_bias(bool bias);

/// How the activations of a convolution lie in memory; weights and their gradients are f32.
struct Bf16Storage {
  Stored x;
  Stored y;
};

/// Returns the engine's forward kernel with such a tail.
std::optional<Kernel> bf16_forward(const ConvShape& shape, const Bf16Storage& stored,
                                   Activation activation, FindBf16Tail tail);
/// Returns its gradient by the input.
std::optional<Kernel> bf16_input_gradient(const ConvShape& shape, Stored dz, Stored dx);

/// Which operands of a weight gradient, whose only result is dw, are which.
struct WeightGradientOperands {
  std::size_t x = 0;
  std::size_t dz = 1;
  Stored stored_x = {};
  Stored stored_dz = {};
};
/// Returns the engine's weight gradient with operands in another order than Conv2dGradWeightOp's.
std::optional<Kernel> bf16_weight_gradient(const ConvShape& shape,
                                           const WeightGradientOperands& operands);

}  // namespace linnet::cpu
