// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/types.h>

#include <cstdint>
#include <string>

// The types that fields of several layers have. In every layer images are (N, H, W, C), sequences
// (N, T, C) and other samples (N, features), where N is the batch.
namespace linnet {
class NetworkBuilder;
}

LINNET_API_BEGIN
namespace linnet {

/// Says how a weight starts. Fans count the inputs and outputs that one weight connects: for a
/// convolution both are multiplied by the kernel's area.
struct Initializer {
  /// Names a way to start.
  enum class Kind : std::uint8_t {
    constant,        ///< `value` everywhere
    uniform,         ///< U(-value, value)
    normal,          ///< N(0, value²)
    glorot_uniform,  ///< U(±sqrt(6 / (fan_in + fan_out))) (Glorot and Bengio, 2010)
    glorot_normal,   ///< N(0, 2 / (fan_in + fan_out))
    he_uniform,      ///< U(±sqrt(6 / fan_in)) (He et al., 2015)
    he_normal,       ///< N(0, 2 / fan_in)
  };
  Kind kind = Kind::glorot_uniform;  ///< the way
  double value = 0;  ///< the constant, the bound or the standard deviation; else of no meaning
};
/// Zero everywhere.
inline constexpr Initializer kZeros{Initializer::Kind::constant, 0};
/// One everywhere.
inline constexpr Initializer kOnes{Initializer::Kind::constant, 1};

/// Height and width, in pixels unless noted; one number means both.
struct Size2d {
  std::int64_t height = 1;  ///< rows
  std::int64_t width = 1;   ///< columns
  /// The same height and width.
  constexpr Size2d(std::int64_t both) : height(both), width(both) {}  // NOLINT(*-explicit-*)
  /// Height, then width.
  constexpr Size2d(std::int64_t h, std::int64_t w) : height(h), width(w) {}
  /// Compares both.
  bool operator==(const Size2d&) const = default;
};

/// Zeros (for max pooling: minus infinity) around an image, in pixels.
struct Padding2d {
  /// Says where the numbers come from.
  enum class Mode : std::uint8_t {
    valid,  ///< none
    same,   ///< see same()
    fixed,  ///< what the four sides say
  };
  Mode mode = Mode::valid;  ///< where the numbers come from
  std::int64_t top = 0;     ///< rows above the first; of Mode::fixed alone, as all sides
  std::int64_t bottom = 0;  ///< rows below the last
  std::int64_t left = 0;    ///< columns left of the first; of sequences: steps before the first
  std::int64_t right = 0;   ///< columns right of the last; of sequences: steps after the last

  /// No padding.
  static constexpr Padding2d valid() { return {}; }
  /// As much as makes the output ceil(input / stride) large; an odd pixel goes to bottom and right,
  /// as in TensorFlow.
  static constexpr Padding2d same() { return {.mode = Mode::same}; }
  /// The same on all four sides, as PyTorch's padding=n.
  static constexpr Padding2d all(std::int64_t n) { return {Mode::fixed, n, n, n, n}; }
};

}  // namespace linnet
LINNET_API_END
