// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a batch norm is launched; no kernel is named.
#include <cstddef>
#include <cstdint>

#include "backend/cuda/column_tiles.h"
#include "graph/value.h"

namespace linnet::cuda {

/// Rows that a thread keeps in registers between its two passes over them, at most: of a norm, and
/// of a gradient, whose rows take twice the registers.
inline constexpr int kNormKeeps = 8;
inline constexpr int kGradientKeeps = 4;

/// Returns tiles for a kernel that computes an image from given sums.
ColumnTiles tiles_of_map(const Shape& image, bool vectors);

/// How a training's norm of an image is launched: as a whole, or its sums first.
struct NormLaunches {
  ColumnTiles sums, map;
  bool whole;

  /// `vectors`: whether a thread may load four channels at once. `keeps`: rows of a thread that are
  /// read once.
  NormLaunches(const ValueType& image, bool vectors, int keeps);
};

/// The same by whether four channels may be taken at once.
struct AllNormLaunches {
  NormLaunches fours, ones;

  AllNormLaunches(const ValueType& image, int keeps)
      : fours(image, true, keeps), ones(image, false, keeps) {}
  const NormLaunches& of(bool aligned) const { return aligned ? fours : ones; }
  std::size_t workspace_bytes() const;
};

}  // namespace linnet::cuda
