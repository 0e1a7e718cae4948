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

/// Describes the initial values of a weight. Fans count the inputs and outputs that one weight
/// connects: for a convolution both are multiplied by the kernel's area.
struct Initializer {
  /// Names a distribution of initial values.
  enum class Kind : std::uint8_t {
    constant,        ///< `value` everywhere
    uniform,         ///< U(-value, value)
    normal,          ///< N(0, value²)
    glorot_uniform,  ///< U(±sqrt(6 / (fan_in + fan_out))) (Glorot and Bengio, 2010)
    glorot_normal,   ///< N(0, 2 / (fan_in + fan_out))
    he_uniform,      ///< U(±sqrt(6 / fan_in)) (He et al., 2015)
    he_normal,       ///< N(0, 2 / fan_in)
  };
  Kind kind = Kind::glorot_uniform;  ///< the distribution
  double value = 0;                  ///< the constant, the bound or the std; other kinds ignore it
};
/// Sets every element to 0.
inline constexpr Initializer kZeros{Initializer::Kind::constant, 0};
/// Sets every element to 1.
inline constexpr Initializer kOnes{Initializer::Kind::constant, 1};

/// Holds a height and a width, in pixels unless noted; one number sets both.
struct Size2d {
  std::int64_t height = 1;  ///< rows
  std::int64_t width = 1;   ///< columns
  /// Sets height and width to one number.
  constexpr Size2d(std::int64_t both) : height(both), width(both) {}  // NOLINT(*-explicit-*)
  /// Sets height and width.
  constexpr Size2d(std::int64_t h, std::int64_t w) : height(h), width(w) {}
  /// Returns whether height and width are equal.
  bool operator==(const Size2d&) const = default;
};

/// Describes the zeros (minus infinity for max pooling) around an image, in pixels.
struct Padding2d {
  /// Names how the padding is determined.
  enum class Mode : std::uint8_t {
    valid,  ///< no padding
    same,   ///< as same() describes
    fixed,  ///< the numbers of the four sides
  };
  Mode mode = Mode::valid;  ///< how the padding is determined
  std::int64_t top = 0;     ///< rows above the first; all sides are used by Mode::fixed only
  std::int64_t bottom = 0;  ///< rows below the last
  std::int64_t left = 0;    ///< columns left of the first; for sequences steps before the first
  std::int64_t right = 0;   ///< columns right of the last; for sequences steps after the last

  /// Sets no padding.
  static constexpr Padding2d valid() { return {}; }
  /// Returns the padding that makes the output ceil(input / stride) large; an odd pixel goes to
  /// bottom and right, as in TensorFlow.
  static constexpr Padding2d same() { return {.mode = Mode::same}; }
  /// Sets the same padding on all four sides, as PyTorch's padding=n.
  static constexpr Padding2d all(std::int64_t n) { return {Mode::fixed, n, n, n, n}; }
};

}  // namespace linnet
LINNET_API_END
