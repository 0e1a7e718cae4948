// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bits.h"
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

/// Images on one side of a convolution: its inputs, or its outputs.
struct ConvImages {
  int height = 0;
  int width = 0;
  int channels = 0;
  int of_group = 0;        ///< channels
  std::int64_t total = 0;  ///< pixels of all samples
  Divider by_image;
  Divider by_width;
  Divider by_group;

  ConvImages() = default;
  constexpr ConvImages(std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c,
                       std::int64_t groups)
      : height(static_cast<int>(h)),
        width(static_cast<int>(w)),
        channels(static_cast<int>(c)),
        of_group(static_cast<int>(c / groups)),
        total(n * h * w),
        by_image(std::max<std::int64_t>(h * w, 1)),
        by_width(std::max<std::int64_t>(w, 1)),
        by_group(c / groups) {}

  /// A pixel of all samples in their order: which sample, and where in it.
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
  /// Returns where a sample begins, and a pixel's place after that.
  constexpr std::int64_t image(std::int64_t sample) const {
    return sample * height * width * channels;
  }
  constexpr std::int64_t place(int row, int column) const {
    return static_cast<std::int64_t>(row * width + column) * channels;
  }
  constexpr bool holds(int row, int column) const {
    return row >= 0 && row < height && column >= 0 && column < width;
  }
};

/// How windows lie along one axis of the images: which pixels of the input an output reads or,
/// kBackward, in which outputs an input is read.
struct ConvAxis {
  int in = 0;  ///< pixels
  int out = 0;
  int stride = 1;
  int dilation = 1;
  int pad = 0;
  Divider by_stride;

  ConvAxis() = default;
  constexpr ConvAxis(std::int64_t inputs, std::int64_t outputs, std::int64_t strides,
                     std::int64_t dilations, std::int64_t padding)
      : in(static_cast<int>(inputs)),
        out(static_cast<int>(outputs)),
        stride(static_cast<int>(strides)),
        dilation(static_cast<int>(dilations)),
        pad(static_cast<int>(padding)),
        by_stride(strides) {}

  /// Returns what read() counts the taps of a pixel from.
  template <bool kBackward>
  constexpr int begin(int pixel) const {
    return kBackward ? pixel + pad : pixel * stride - pad;
  }
  /// Returns the pixel at a tap, `apart` = its number * dilation; -1: none.
  template <bool kBackward>
  constexpr int read(int begin, int apart) const {
    if constexpr (kBackward) {
      if (begin < apart) return -1;
      const int pixel = by_stride.quotient(begin - apart);
      return pixel * stride == begin - apart && pixel < out ? pixel : -1;
    } else {
      const int pixel = begin + apart;
      return pixel >= 0 && pixel < in ? pixel : -1;
    }
  }
};

/// A ConvShape as kernels take it: dimensions of 32 bits, and what they divide by.
struct ConvGeometry {
  ConvImages in;
  ConvImages out;
  ConvAxis rows;
  ConvAxis columns;
  int kh, kw;
  int taps;  ///< KH KW C/groups
  Divider by_kw;

  explicit ConvGeometry(const ConvShape& s)
      : in(s.n, s.h, s.w, s.c, s.attrs.groups),
        out(s.n, s.oh, s.ow, s.co, s.attrs.groups),
        rows(s.h, s.oh, s.attrs.stride_h, s.attrs.dilation_h, s.attrs.pad_top),
        columns(s.w, s.ow, s.attrs.stride_w, s.attrs.dilation_w, s.attrs.pad_left),
        kh(static_cast<int>(s.kh)),
        kw(static_cast<int>(s.kw)),
        taps(static_cast<int>(s.taps())),
        by_kw(s.kw) {}

  /// Returns the images that taps read: the input or, kBackward, the output's gradient.
  template <bool kBackward>
  constexpr const ConvImages& source() const {
    return kBackward ? out : in;
  }
  /// Returns those of which each pixel is a sum of them.
  template <bool kBackward>
  constexpr const ConvImages& target() const {
    return kBackward ? in : out;
  }
};

inline unsigned ceil_div(std::int64_t a, std::int64_t b) {
  return static_cast<unsigned>((a + b - 1) / b);
}

}  // namespace linnet::cuda
