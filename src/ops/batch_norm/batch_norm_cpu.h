// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

// Loops over rows of `channels` floats, or bfloat16s as T = std::uint16_t, in the processor's
// widest vectors; arithmetic and what belongs to a channel are f32. Rows follow each other; those
// of x lie `pitch` elements apart.

/// Rows of the operand that is normalised.
template <class T>
struct PitchedRows {
  const T* x = nullptr;
  std::int64_t pitch = 0;
  std::int64_t rows = 0;
};

/// A mean and a sum of squared distances from it for every channel.
struct Moments {
  float* mean = nullptr;
  float* squares = nullptr;
};

/// The moments of rows, at least one, whose second reading should find them in a cache.
void moments_of(const PitchedRows<float>& of, std::int64_t channels, const Moments& to);
void moments_of(const PitchedRows<std::uint16_t>& of, std::int64_t channels, const Moments& to);
/// `to`, of `rows` rows, becomes the moments of these and of the `added` rows of `from` (Chan,
/// Golub, LeVeque, 1979). At least one row in all.
void merge_moments(const Moments& from, std::int64_t added, std::int64_t channels,
                   const Moments& to, std::int64_t rows);

/// y = f((x - mean) * scale + shift + residual), f the identity or relu.
struct Normalization {
  const float* mean = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  bool relu = false;  ///< keeps NaN
};
/// `residual` may be null.
void normalize_rows(const Normalization& by, const PitchedRows<float>& of, const float* residual,
                    std::int64_t channels, float* y);
void normalize_rows(const Normalization& by, const PitchedRows<std::uint16_t>& of,
                    const std::uint16_t* residual, std::int64_t channels, std::uint16_t* y);

/// Which elements of dy count.
enum class GradientMask : std::uint8_t { all, output, input };

/// Rows that the gradient's loops read. dz is dy where y > 0, y given or what x becomes by `line`;
/// all of it where neither is given.
template <class T>
struct GradientRows {
  const T* dy = nullptr;
  PitchedRows<T> x;
  const T* y = nullptr;
  const Normalization* line = nullptr;

  GradientMask mask() const {
    if (line != nullptr) return GradientMask::input;
    return y != nullptr ? GradientMask::output : GradientMask::all;
  }
};
/// Adds dz * (x - mean) and dz to `products` and `sums`, and writes dz where it is not null (y must
/// be given).
void add_gradient_sums(const GradientRows<float>& of, std::int64_t channels, const float* mean,
                       float* products, float* sums, float* dz);
void add_gradient_sums(const GradientRows<std::uint16_t>& of, std::int64_t channels,
                       const float* mean, float* products, float* sums, std::uint16_t* dz);

/// dx = scale * dz - slope * (x - mean) - shift
struct GradientLine {
  const float* mean = nullptr;
  const float* scale = nullptr;
  const float* slope = nullptr;
  const float* shift = nullptr;
};
/// Where dx goes: to rows that lie `pitch` elements apart, to be added to what they hold or not.
template <class T>
struct GradientPlace {
  T* dx = nullptr;
  std::int64_t pitch = 0;
  bool adds = false;
};
void write_gradient(const GradientRows<float>& of, std::int64_t channels, const GradientLine& by,
                    const GradientPlace<float>& to);
void write_gradient(const GradientRows<std::uint16_t>& of, std::int64_t channels,
                    const GradientLine& by, const GradientPlace<std::uint16_t>& to);

}  // namespace linnet::cpu
