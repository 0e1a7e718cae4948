// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/cuda/launch.h"
#include "backend/cuda/matmul.h"
#include "ops/recurrent/recurrent.h"

namespace linnet::cuda {

// What Linnet's own recurrent kernels launch, from the shape alone.

/// Returns the bytes of so many floats, whole blocks of 256: what follows them is aligned.
constexpr std::size_t float_bytes(std::int64_t floats) {
  return (sizeof(float) * static_cast<std::size_t>(floats) + 255) / 256 * 256;
}

/// Describes how a recurrence is cut: a block takes some samples through all steps. What it knows
/// of them lies in shared memory or, where that is too small, in `memory_bytes` of the workspace.
struct RecurrentCut {
  int samples = 1;          ///< of a block: 1 or 4
  std::int64_t floats = 0;  ///< of a block's memory
  LaunchShape launch = {};
  std::size_t memory_bytes = 0;  ///< 0: shared memory is enough
};

/// Returns the cut of the forward pass: a sample has h, m and r h, and the sums.
RecurrentCut forward_cut(const RecurrentShape& s);
/// Returns the gradient's: a sample has dh and dm, the slopes, and dh's parts by gates.
RecurrentCut backward_cut(const RecurrentShape& s);

/// A product of the slopes, or of their transpose, once they are all there.
struct SlopeProduct {
  MatmulPlan plan;
  std::int64_t slope = 0;   ///< first of a row of slopes
  bool by_saved = false;    ///< the other operand lies in `saved`, else it is an input
  std::size_t input = 0;    ///< which one
  std::int64_t column = 0;  ///< of `saved`
  std::size_t output = 0;
  std::int64_t element = 0;  ///< of the output
};

/// Returns the products that make the gradients of x (where it is read) and of both weights.
std::vector<SlopeProduct> slope_products(const RecurrentShape& s, bool dx_read);

}  // namespace linnet::cuda
