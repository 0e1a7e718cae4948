// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cuda/cuda_api.h"

namespace linnet::cuda {

/// Says what cuDNN may compute with.
enum class CudnnMath : std::uint8_t {
  fp32,  ///< f32 operands, no tensor cores, no Winograd or Fourier transforms
  tf32,  ///< f32 operands, tensor cores with 10-bit mantissas, sums in fp32
  bf16,  ///< every operand is bfloat16 in memory, sums in fp32
  fp16,  ///< the same with IEEE's 16-bit type
};
constexpr std::array<std::string_view, 4> enum_names(CudnnMath) {
  return {"fp32", "tf32", "bf16", "fp16"};
}
/// Returns what every operand is stored as.
constexpr DType operand_type(CudnnMath math) {
  if (math == CudnnMath::fp16) return DType::f16;
  return math == CudnnMath::bf16 ? DType::bf16 : DType::f32;
}

/// Workspaces beyond it take room from larger batches, and were 1.5 to 2 times slower in the
/// experience that Linnet was designed from; it has measured nothing itself.
inline constexpr std::size_t kCudnnWorkspaceLimit = std::size_t{256} << 20;

/// A convolution as cuDNN is asked for it, channels last. Operands, in the order of execution:
///   forward      x (n, h, w, c), kernel (co, kh, kw, c / groups), [bias (co)], [residual (as y)],
///                y (n, oh, ow, co)
///   grad_input   dz (n, oh, ow, co), kernel, dx (n, h, w, c)
///   grad_weight  x, dz, dw (the kernel's shape)
struct CudnnConvolution {
  enum class Direction : std::uint8_t { forward, grad_input, grad_weight };
  enum class Tail : std::uint8_t { none, relu, tanh, sigmoid, gelu };

  Direction direction = Direction::forward;
  CudnnMath math = CudnnMath::tf32;
  std::int64_t n = 0, h = 0, w = 0, c = 0;
  std::int64_t oh = 0, ow = 0, co = 0;
  std::int64_t kh = 0, kw = 0;
  std::int64_t stride_h = 1, stride_w = 1;
  std::int64_t dilation_h = 1, dilation_w = 1;
  std::int64_t pad_top = 0, pad_bottom = 0, pad_left = 0, pad_right = 0;
  std::int64_t groups = 1;
  // Forward alone, in this order.
  bool bias = false;
  bool residual = false;
  Tail tail = Tail::none;

  bool operator==(const CudnnConvolution&) const = default;

  std::int64_t image_in() const { return n * h * w * c; }      ///< elements of x and dx
  std::int64_t image_out() const { return n * oh * ow * co; }  ///< of y and dz
  std::int64_t weights() const { return co * kh * kw * (c / groups); }
  /// Returns bytes of every operand, in the order of execution.
  std::vector<std::size_t> operand_bytes() const;
  /// Returns text for errors: "conv2d x=(128, 32, 32, 3), w=(64, 7, 7, 3), stride (2, 2), ...,
  /// tf32".
  std::string describe() const;
};

}  // namespace linnet::cuda
