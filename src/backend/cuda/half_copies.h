// SPDX-License-Identifier: Apache-2.0
#pragma once

// Launches that copy to and from 16-bit types, for host code. `half` is the type: bf16 or f16.
#include <array>
#include <cstdint>

#include "backend/cuda/half_operands.h"
#include "backend/cuda/queue.h"

namespace linnet::cuda {

/// A copy of an operand, f32 or of the 16-bit type.
struct HalfCopy {
  const void* from = nullptr;
  void* to = nullptr;  ///< null: none
  HalfOperand shape = {};

  constexpr std::int64_t items() const { return to == nullptr ? 0 : shape.padded_elements() / 4; }
};

/// Makes all copies, in one launch.
void copy_to_half(const Queue& stream, DType half,
                  const std::array<HalfCopy, HalfOperands::kMost>& copies);

void widen_half(const Queue& stream, DType half, std::int64_t elements, float* to,
                const void* from);
void round_to_half(const Queue& stream, DType half, std::int64_t elements, void* to,
                   const float* from);
/// Rounds to numbers that `half` has, which stay f32.
void round_as_half(const Queue& stream, DType half, std::int64_t elements, float* to,
                   const float* from);

}  // namespace linnet::cuda
