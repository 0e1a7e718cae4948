// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "ops/conv2d/correlation_cpu.h"

namespace linnet::cpu {

/// A product of patches and weights of images with much padding: outputs whose patches the border
/// cuts alike are summed together, over the taps that meet pixels alone, and no patch is copied.
class CroppedProduct {
 public:
  CroppedProduct() = default;
  CroppedProduct(const Correlation& correlation, std::int64_t columns);

  /// Returns whether zeros are so many of the products that this is faster.
  bool pays() const;
  /// Blocks of images, which tasks share out.
  std::int64_t blocks() const;
  static std::size_t scratch_bytes();
  /// The images of blocks [begin, end) at `to`; see PatchProduct::run().
  void run(const float* images, const float* panels, const float* start, float* to, Range blocks,
           std::byte* scratch) const;
  /// First image of a block.
  std::int64_t image(std::int64_t block) const;

 private:
  void run_equal(const EqualOutputs& lines, const EqualOutputs& places, const float* images,
                 const float* panels, const float* start, float* to, Range block,
                 std::byte* scratch) const;

  Correlation all_;
  std::int64_t columns_ = 1;
  std::vector<EqualOutputs> lines_;
  std::vector<EqualOutputs> places_;
};

}  // namespace linnet::cpu
