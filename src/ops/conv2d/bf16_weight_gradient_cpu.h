// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/conv2d/bf16_frames_cpu.h"

namespace linnet::cpu {

/// Sums of products of dz (pixels, C_out) and patches over pixels, by bfloat16 tiles. Tasks share
/// lines, output channels and columns of dw so that few bytes are read and written.
class FrameWeightGradient {
 public:
  FrameWeightGradient(const ConvShape& shape, Stored x, Stored dz);

  int tasks() const { return line_parts_ * row_parts_ * column_parts_; }
  /// Gradients, one after the other at run()'s `dw`, that have to be added.
  int line_parts() const { return line_parts_; }
  std::size_t scratch_bytes() const;
  /// Task `index` of tasks(). What cropped taps have is not written.
  void run(const void* x, const void* dz, float* dw, int index, std::byte* scratch) const;

  Correlation all;

 private:
  /// Columns [begin, end) of a segment of dw.
  struct Part {
    std::int64_t segment = 0;
    Range columns;
  };
  void choose_tasks();
  Range rows(int index) const;
  std::size_t tile_bytes() const;
  std::size_t panel_bytes() const;

  ConvShape s_;
  Stored dz_;
  Bf16Frames frames_;
  std::vector<Part> parts_;
  int line_parts_ = 1;
  int row_parts_ = 1;
  int column_parts_ = 1;
};

}  // namespace linnet::cpu
