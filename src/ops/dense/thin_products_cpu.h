// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

/// Products of a dense layer with few units, which a general matrix product leaves half idle: the
/// short side never fills its tiles. All matrices are row-major without gaps.
struct ThinShape {
  std::int64_t rows = 0;  ///< N
  std::int64_t features = 0;
  std::int64_t units = 0;
};

/// Up to where these loops were measured to win over oneDNN's sgemm (docs/notes/).
inline constexpr std::int64_t kThinUnits = 32;
/// What they take at most.
inline constexpr std::int64_t kMostThinUnits = 2 * kThinUnits;

/// Computes y (N, units) = x wᵀ
void thin_forward(const ThinShape& shape, const float* x, const float* w, float* y);
/// Computes dx (N, features) = dz w
void thin_grad_input(const ThinShape& shape, const float* dz, const float* w, float* dx);
/// Columns [begin, end) of dw (units, features) = dzᵀ x
void thin_grad_weight(const ThinShape& shape, const float* dz, const float* x, std::int64_t begin,
                      std::int64_t end, float* dw);

}  // namespace linnet::cpu
