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
  static std::size_t scratch_bytes();
  /// Images [begin, end) at `to`, of `columns` columns that `panels` and `start` are of; see
  /// PatchProduct::run().
  void run(const float* images, const float* panels, const float* start, float* to,
           std::int64_t columns, Range range, std::byte* scratch) const;

  /// Images that are computed at once: whole tiles of rows for every output, and pixels that stay
  /// in the L2 cache.
  static constexpr std::int64_t kImages = 24;

 private:
  void run_equal(const EqualOutputs& lines, const EqualOutputs& places, const float* images,
                 const float* panels, const float* start, float* to, std::int64_t width,
                 Range block, std::byte* scratch) const;

  Correlation all_;
  std::int64_t columns_ = 1;
  std::vector<EqualOutputs> lines_;
  std::vector<EqualOutputs> places_;
};

}  // namespace linnet::cpu
