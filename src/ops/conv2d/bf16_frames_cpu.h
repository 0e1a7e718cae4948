// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/products/bf16_tiles.h"
#include "backend/cpu/stored.h"
#include "ops/conv2d/correlation_cpu.h"

namespace linnet::cpu {

/// Images as rows of patches in bfloat16, line after line of a correlation's grid: what a block of
/// lines reads is rounded into a frame in scratch memory, with zeros outside the images. Patches of
/// one pixel that is stored in bfloat16 are read where they lie.
class Bf16Frames {
 public:
  Bf16Frames() = default;
  /// `pixels`: of a block, where its frame has at most `bytes`.
  Bf16Frames(const Correlation& correlation, Stored images, std::int64_t pixels,
             std::int64_t bytes);

  /// Lines of a block: enough pixels for a product, as its frame allows.
  std::int64_t block_lines() const { return block_lines_; }
  std::size_t scratch_bytes() const;
  /// Returns the patches of lines [begin, end), at most block_lines(), a row a pixel; valid until
  /// the next call with the same scratch.
  Bf16Rows patches(const void* images, std::int64_t begin, std::int64_t end,
                   std::byte* scratch) const;
  /// Pairs of terms of a whole patch; a segment of odd length ends with half a one.
  std::int64_t pairs() const { return correlation_.rows.kernel * pairs_of(correlation_.segment()); }

 private:
  std::int64_t width() const;  ///< pixels of a row of a frame
  /// Elements from row to row of a frame: with a zero at the end for the last pair of a segment of
  /// odd length.
  std::int64_t pitch() const;
  std::int64_t rows(std::int64_t lines) const;
  std::size_t addresses_bytes() const;
  void round_row(const void* images, std::int64_t image, std::int64_t row, std::uint16_t* to) const;

  Correlation correlation_;
  Stored stored_;
  bool in_place_ = false;  ///< without a frame
  std::int64_t block_lines_ = 1;
};

}  // namespace linnet::cpu
