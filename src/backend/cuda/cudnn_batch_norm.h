// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace linnet::cuda {

/// A batch norm in training as cuDNN is asked for it: f32, channels last, with what is fused to it.
/// Operands, in the order of execution:
///   forward    x (n, h, w, c), gamma (c), beta, running mean, running variance, [residual as x],
///              y, batch mean, 1 / std, new running mean, new running variance
///   gradient   dy, x, gamma, batch mean, 1 / std, [y],
///              dx, dgamma, dbeta, [dresidual: dy where y > 0]
/// Engines exist from compute capability 8.0, for c % 4 = 0, and a residual only with the ReLU.
/// cuDNN compiles a plan's kernel while it makes it: 0.6 to 1 s of a processor.
struct CudnnBatchNorm {
  enum class Direction : std::uint8_t { forward, gradient };

  Direction direction = Direction::forward;
  std::int64_t n = 0, h = 1, w = 1, c = 0;
  bool residual = false;  ///< added before the ReLU; gradient: its gradient is an output
  bool relu = false;      ///< gradient: dy counts where y > 0
  double epsilon = 1e-5;  ///< forward alone
  double momentum = 0.1;  ///< forward alone: weight of the batch in the running statistics

  bool operator==(const CudnnBatchNorm&) const = default;

  std::int64_t rows() const { return n * h * w; }
  /// Returns bytes of every operand, in the order of execution.
  std::vector<std::size_t> operand_bytes() const;
  /// Returns text for errors: "batch_norm x=(128, 8, 8, 64) + residual + relu, epsilon 1e-05,
  /// momentum 0.1".
  std::string describe() const;
};

}  // namespace linnet::cuda
