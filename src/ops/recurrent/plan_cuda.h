// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

/// How many weights a thread may hold, and how many threads a block then has room for: a
/// multiprocessor has 65,536 registers, given out to four warps at a time, and a thread needs some
/// 40 for other things.
struct HeldSize {
  int terms = 0;
  int threads = 0;
};
inline constexpr HeldSize kHeldSizes[] = {{32, 768}, {48, 640}, {80, 512}, {128, 384}};
inline constexpr int kHeldChunk = 16;  ///< weights that are left out together where there are none

/// Describes a recurrence whose weights are held in registers (held_cuda.cuh). A step's sums are
/// cut into `parts` of `terms`, a thread each.
struct HeldCut {
  int size = 0;     ///< of kHeldSizes
  int samples = 1;  ///< of a block: 1 or 2
  int sums = 0;     ///< of a sample
  int parts = 1;    ///< of a sum
  int terms = 0;    ///< of a part; a multiple of 4
  int stride = 0;   ///< floats from a sample's vector of terms to the next: whole chunks
  LaunchShape launch = {};
};

/// Returns the cut of the forward pass, whose sums are the gates' over the state, or nothing where
/// the weights do not fit or the cell needs two products one after the other (gru_original).
std::optional<HeldCut> held_forward_cut(const RecurrentShape& s);
/// Returns the gradient's, whose sums are the units' over the slopes.
std::optional<HeldCut> held_backward_cut(const RecurrentShape& s);

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
