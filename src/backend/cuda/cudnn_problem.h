// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "backend/cuda/cudnn_batch_norm.h"
#include "backend/cuda/cudnn_convolution.h"

namespace linnet::cuda {

/// What cuDNN is asked for: an operation with what is fused to it.
using CudnnProblem = std::variant<CudnnConvolution, CudnnBatchNorm>;

/// Batch norms multiply no matrices: nothing of them may be rounded to less than f32.
inline CudnnMath math_of(const CudnnProblem& problem) {
  const auto* convolution = std::get_if<CudnnConvolution>(&problem);
  return convolution != nullptr ? convolution->math : CudnnMath::fp32;
}
/// Returns bytes of every operand, in the order of execution.
inline std::vector<std::size_t> operand_bytes(const CudnnProblem& problem) {
  return std::visit([](const auto& p) { return p.operand_bytes(); }, problem);
}
/// Returns text for errors, and as a key: equal problems have equal descriptions.
inline std::string describe(const CudnnProblem& problem) {
  return std::visit([](const auto& p) { return p.describe(); }, problem);
}

}  // namespace linnet::cuda
