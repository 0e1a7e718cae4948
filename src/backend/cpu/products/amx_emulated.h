// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace linnet::cpu {

/// AMX's eight tiles by their definition (Intel 64 and IA-32 Architectures Software Developer's
/// Manual, volume 2, TDPBF16PS): for where there are none.
class EmulatedAmx {
 public:
  template <int kTile>
  void zero() {
    std::memset(tiles_[kTile], 0, sizeof(Tile));
  }
  template <int kTile>
  void load(const void* from, std::int64_t stride) {
    for (std::ptrdiff_t i = 0; i < kSide; ++i) {
      std::memcpy(tiles_[kTile][i], static_cast<const std::byte*>(from) + i * stride, kRowBytes);
    }
  }
  template <int kTile>
  void store(void* to, std::int64_t stride) const {
    for (std::ptrdiff_t i = 0; i < kSide; ++i) {
      std::memcpy(static_cast<std::byte*>(to) + i * stride, tiles_[kTile][i], kRowBytes);
    }
  }
  /// Adds the sums of even and of odd terms, which are kept apart, to c.
  template <int kC, int kA, int kB>
  void multiply_add() {
    for (int m = 0; m < kSide; ++m) {
      for (int n = 0; n < kSide; ++n) {
        float even = 0;
        float odd = 0;
        for (int k = 0; k < kSide; ++k) {
          const std::uint32_t a = tiles_[kA][m][k];
          const std::uint32_t b = tiles_[kB][k][n];
          even = flushed(std::fma(lower(a), lower(b), even));
          odd = flushed(std::fma(upper(a), upper(b), odd));
        }
        const float c = flushed(std::bit_cast<float>(tiles_[kC][m][n]));
        tiles_[kC][m][n] = std::bit_cast<std::uint32_t>(flushed(c + flushed(even + odd)));
      }
    }
  }

 private:
  static constexpr int kSide = 16;
  static constexpr std::size_t kRowBytes = 64;
  using Tile = std::uint32_t[kSide][kSide];

  static float lower(std::uint32_t pair) { return flushed(std::bit_cast<float>(pair << 16)); }
  static float upper(std::uint32_t pair) {
    return flushed(std::bit_cast<float>(pair & 0xFFFF0000U));
  }
  /// Subnormal operands and results are zeros.
  static float flushed(float x) {
    return std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
  }

  Tile tiles_[8] = {};
};

}  // namespace linnet::cpu
