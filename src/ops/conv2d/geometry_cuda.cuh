// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/cuda/device.cuh"
#include "backend/cuda/vectors.cuh"
#include "base/bits.h"
#include "ops/activation/epilogue_cuda.cuh"
#include "ops/conv2d/conv2d.h"

namespace linnet::cuda {

/// Division of n < 2^31 by a fixed d in [1, 2^31): a product and a shift (Granlund and Montgomery,
/// "Division by invariant integers using multiplication", 1994).
class Divider {
 public:
  Divider() = default;
  explicit constexpr Divider(std::int64_t d)
      : shift_(bit_width(static_cast<std::uint64_t>(d) - 1)),
        factor_(static_cast<std::uint32_t>(
            (static_cast<std::uint64_t>((std::int64_t{1} << shift_) - d) << 32) /
                static_cast<std::uint64_t>(d) +
            1)) {}
  constexpr int quotient(int n) const {
    const auto wide = static_cast<std::uint64_t>(n);
    return static_cast<int>((((wide * factor_) >> 32) + wide) >> shift_);
  }

 private:
  int shift_ = 0;
  std::uint32_t factor_ = 1;
};

/// Pixels of all samples in their order: which sample, and where in it.
struct PixelGrid {
  int height = 0;
  int width = 0;
  Divider by_image;
  Divider by_width;

  struct Pixel {
    std::int64_t sample;
    int row;
    int column;
  };
  constexpr Pixel at(std::int64_t index) const {
    const int pixels = height * width;
    const std::int64_t sample =
        index <= INT32_MAX ? by_image.quotient(static_cast<int>(index)) : index / pixels;
    const int rest = static_cast<int>(index - sample * pixels);
    const int row = by_width.quotient(rest);
    return {sample, row, rest - row * width};
  }
};

inline PixelGrid pixel_grid(std::int64_t height, std::int64_t width) {
  return {static_cast<int>(height), static_cast<int>(width),
          Divider(std::max<std::int64_t>(height * width, 1)),
          Divider(std::max<std::int64_t>(width, 1))};
}

/// A ConvShape as kernels take it: dimensions of 32 bits, and what they divide by.
struct ConvGeometry {
  PixelGrid in;
  PixelGrid out;
  std::int64_t in_total = 0;   ///< N H W
  std::int64_t out_total = 0;  ///< N OH OW
  int c, co, cg, cog;          ///< channels, and those of a group
  int kh, kw;
  int taps;  ///< KH KW C/groups
  int stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  Divider by_kw, by_cg, by_cog, by_stride_h, by_stride_w;

  constexpr bool inside(int row, int column) const {
    return row >= 0 && row < in.height && column >= 0 && column < in.width;
  }
};

/// Returns whether the dimensions of one sample fit 31 bits.
inline bool fits_geometry(const ConvShape& s) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const Conv2dAttrs& a = s.attrs;
  const std::int64_t height = s.h + a.pad_top + a.pad_bottom;
  const std::int64_t width = s.w + a.pad_left + a.pad_right;
  return height < kMost && width < kMost && s.in_pixels() < kMost && s.out_pixels() < kMost &&
         s.c < kMost && s.co < kMost && s.kh * s.kw < kMost && s.taps() < kMost &&
         s.kh * s.kw * s.group_out() < kMost;
}

inline ConvGeometry geometry(const ConvShape& s) {
  const Conv2dAttrs& a = s.attrs;
  const auto narrow = [](std::int64_t dim) { return static_cast<int>(dim); };
  return {.in = pixel_grid(s.h, s.w),
          .out = pixel_grid(s.oh, s.ow),
          .in_total = s.n * s.in_pixels(),
          .out_total = s.n * s.out_pixels(),
          .c = narrow(s.c),
          .co = narrow(s.co),
          .cg = narrow(s.group_in()),
          .cog = narrow(s.group_out()),
          .kh = narrow(s.kh),
          .kw = narrow(s.kw),
          .taps = narrow(s.taps()),
          .stride_h = narrow(a.stride_h),
          .stride_w = narrow(a.stride_w),
          .dilation_h = narrow(a.dilation_h),
          .dilation_w = narrow(a.dilation_w),
          .pad_top = narrow(a.pad_top),
          .pad_left = narrow(a.pad_left),
          .by_kw = Divider(s.kw),
          .by_cg = Divider(s.group_in()),
          .by_cog = Divider(s.group_out()),
          .by_stride_h = Divider(a.stride_h),
          .by_stride_w = Divider(a.stride_w)};
}

inline unsigned ceil_div(std::int64_t a, std::int64_t b) {
  return static_cast<unsigned>((a + b - 1) / b);
}

}  // namespace linnet::cuda
