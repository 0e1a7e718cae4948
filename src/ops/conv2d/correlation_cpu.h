// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend/cpu/kernel.h"
#include "backend/cpu/products/panel_product.h"
#include "ops/conv2d/conv2d.h"

namespace linnet::cpu {

/// Outputs of an axis whose taps inside the input are the same.
struct EqualOutputs {
  Range outputs;
  Range taps;
};

/// One axis of a correlation: output i reads inputs i stride - pad + k for taps k of `kernel`.
struct CorrelationAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad = 0;  ///< in front; inputs outside are zeros
  // Which tap of the convolution own tap k is: first_tap + k tap_step.
  std::int64_t first_tap = 0;
  std::int64_t tap_step = 1;
  // Where output i goes: to place_first + i place_step of `place`.
  std::int64_t place = 1;
  std::int64_t place_first = 0;
  std::int64_t place_step = 1;

  /// Without the taps that meet zeros alone: of a 3x3 kernel on one pixel, the middle one is left.
  CorrelationAxis cropped() const;
  /// Returns all outputs in order, by the taps that meet no zeros before or after.
  std::vector<EqualOutputs> equal_outputs() const;
  std::int64_t tap(std::int64_t k) const { return first_tap + k * tap_step; }
  bool leaves_input() const { return pad > 0 || (out - 1) * stride - pad + kernel > in; }
};

/// Describes what convolutions and their gradients by the input share: sums over patches of images
/// (N, H, W, C) for every pixel of a grid. Groups and dilation are not among them.
struct Correlation {
  std::int64_t n = 0;
  std::int64_t c = 0;  ///< channels of the images
  CorrelationAxis rows;
  CorrelationAxis columns;

  std::int64_t lines() const { return n * rows.out; }
  std::int64_t taps() const { return rows.kernel * columns.kernel * c; }
  /// Neighbouring floats of a patch: its part for one row of the kernel.
  std::int64_t segment() const { return columns.kernel * c; }
};

/// Returns the same of images that hold what it reads, zeros outside of them among it.
Correlation padded(const Correlation& correlation);
/// Copies images [begin, end) as padded() has them; `to` is where image 0 begins.
void copy_padded(const Correlation& correlation, const float* images, Range range, float* to);

/// Returns a convolution as it is, without groups and dilation.
Correlation forward_correlation(const ConvShape& shape);

/// The gradient of a convolution by its input: a correlation of dz for every remainder of a pixel's
/// place by the stride.
struct InputGradient {
  explicit InputGradient(const ConvShape& shape);

  std::vector<Correlation> phases;  ///< those that have taps
  bool whole = true;                ///< whether every pixel belongs to one of them
};

/// Images as rows of patches, line after line of the grid: where they leave the images, in padded
/// copies of what a block of lines reads.
class PatchBlocks {
 public:
  PatchBlocks() = default;
  explicit PatchBlocks(const Correlation& correlation);

  /// Lines that a block has: enough pixels for a product.
  std::int64_t block_lines() const { return block_lines_; }
  /// Calls f(begin, end) for these lines, a block after the other.
  template <class F>
  void for_blocks(Range lines, F f) const {
    for (std::int64_t l = lines.begin; l < lines.end; l += block_lines_) {
      f(l, std::min(l + block_lines_, lines.end));
    }
  }
  std::size_t scratch_bytes() const;
  /// Returns the patches of lines [begin, end), at most block_lines(); valid until the next call
  /// with the same scratch. `rows` of them are as many as pixels.
  SegmentedRows patches(const float* images, std::int64_t begin, std::int64_t end,
                        std::byte* scratch) const;
  /// Addresses of the pixels of lines [begin, end) of an image of `channels`, in placed order.
  float** places(float* images, std::int64_t channels, std::int64_t begin, std::int64_t end,
                 std::byte* scratch) const;

 private:
  std::int64_t frame_width() const;
  std::int64_t frame_rows(std::int64_t lines) const;
  std::int64_t block_pixels() const { return block_lines_ * correlation_.columns.out; }

  Correlation correlation_;
  bool copied_ = false;
  std::int64_t block_lines_ = 1;
};

}  // namespace linnet::cpu
