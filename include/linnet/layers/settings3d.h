// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>

// The types that fields of layers over volumes have: (N, D, H, W, C) in every layer.
LINNET_API_BEGIN
namespace linnet {

/// Holds a depth, a height and a width, in voxels; one number sets all three.
struct Size3d {
  std::int64_t depth = 1;   ///< planes
  std::int64_t height = 1;  ///< rows
  std::int64_t width = 1;   ///< columns
  /// Sets all three to one number.
  constexpr Size3d(std::int64_t all)
      : depth(all), height(all), width(all) {}  // NOLINT(*-explicit-*)
  /// Sets depth, height and width.
  constexpr Size3d(std::int64_t d, std::int64_t h, std::int64_t w)
      : depth(d), height(h), width(w) {}
  /// Returns whether depth, height and width are equal.
  bool operator==(const Size3d&) const = default;
};

/// Describes the zeros around a volume, in voxels.
struct Padding3d {
  using Mode = Padding2d::Mode;  ///< names how the padding is determined
  Mode mode = Mode::valid;       ///< how the padding is determined
  std::int64_t front = 0;   ///< planes before the first; all sides are used by Mode::fixed only
  std::int64_t back = 0;    ///< planes after the last
  std::int64_t top = 0;     ///< rows above the first
  std::int64_t bottom = 0;  ///< rows below the last
  std::int64_t left = 0;    ///< columns left of the first
  std::int64_t right = 0;   ///< columns right of the last

  /// Sets no padding.
  static constexpr Padding3d valid() { return {}; }
  /// Returns the padding that makes the output ceil(input / stride) large; an odd voxel goes to
  /// back, bottom and right, as in TensorFlow.
  static constexpr Padding3d same() { return {.mode = Mode::same}; }
  /// Sets the same padding on all six sides, as PyTorch's padding=n.
  static constexpr Padding3d all(std::int64_t n) { return {Mode::fixed, n, n, n, n, n, n}; }
};

}  // namespace linnet
LINNET_API_END
