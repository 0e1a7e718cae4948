// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "fusions/conv2d_pool/conv2d_pool.h"

namespace linnet::cuda {

/// Most products of one result.
inline constexpr int kPoolTaps = 75;

/// A convolution of few channels at stride 1 with 2x2 maximum pooling, as kernels take it.
struct PooledConv {
  int h = 0, w = 0, c = 0, co = 0;  ///< image, filters
  int kh = 0, row_taps = 0;         ///< KH, KW * C
  int pad_top = 0, pad_left = 0;
  int pooled_h = 0, pooled_w = 0;
  int pitch = 0;  ///< floats of a padded row
  bool relu = false;

  constexpr int taps() const { return kh * row_taps; }
  /// Sums of the gradient: dw (C_out, taps), then db (C_out).
  constexpr int sums() const { return (taps() + 1) * co; }
  /// Image rows under `pooled` rows.
  constexpr int image_rows(int pooled) const { return 2 * pooled + kh - 1; }
};

/// Its dimensions fit 32 bits.
PooledConv pooled_conv(const ConvShape& s, Activation activation, std::int64_t pitch);

/// Cut into bands: some pooled rows of one sample.
struct ConvPoolBands : PooledConv {
  int rows = 0;            ///< pooled rows of a band; a sample's last band may have fewer
  int bands = 0;           ///< of a sample
  std::int64_t items = 0;  ///< bands of all samples

  /// Returns the bytes of a band's image.
  constexpr std::size_t image_bytes() const {
    return sizeof(float) * static_cast<std::size_t>(image_rows(rows) * pitch);
  }
};

/// Returns what the kernels take, cut into bands; nothing where convolution and pooling by
/// themselves are better (many channels) or needed (strides, other windows).
std::optional<ConvPoolBands> bands_of(const Conv2dPoolAttrs& attrs, const ConvShape& s);

}  // namespace linnet::cuda
