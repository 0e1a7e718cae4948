// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_pool/bands_cuda.h"

#include <algorithm>

#include "backend/cuda/launch.h"

namespace linnet::cuda {
namespace {

constexpr std::int64_t kItems = 512;            ///< bands that fill a large device
constexpr std::int64_t kImageFloats = 8 << 10;  ///< of a band: 32 KiB
constexpr std::int64_t kWeightFloats = 8 << 10;

int narrow(std::int64_t dim) { return static_cast<int>(dim); }

}  // namespace

PooledConv pooled_conv(const ConvShape& s, Activation activation, std::int64_t pitch) {
  return {.h = narrow(s.h),
          .w = narrow(s.w),
          .c = narrow(s.c),
          .co = narrow(s.co),
          .kh = narrow(s.kh),
          .row_taps = narrow(s.kw * s.c),
          .pad_top = narrow(s.attrs.pad_top),
          .pad_left = narrow(s.attrs.pad_left),
          .pooled_h = narrow(s.oh / 2),
          .pooled_w = narrow(s.ow / 2),
          .pitch = narrow(pitch),
          .relu = activation == Activation::relu};
}

std::optional<ConvPoolBands> bands_of(const Conv2dPoolAttrs& attrs, const ConvShape& s) {
  const Conv2dAttrs& a = attrs.conv;
  const std::int64_t line = (s.w + a.pad_left + a.pad_right) * s.c;
  // Two rows of the image begin 16 banks of shared memory apart: a warp reads windows of both.
  const std::int64_t pitch = line + (48 - line % 32) % 32;
  const std::int64_t pooled_h = s.oh / 2;
  if (!attrs.is_plain() || s.co % 4 != 0 || s.co > kBlock || s.taps() > kPoolTaps ||
      (s.taps() + 1) * s.co > kWeightFloats || (s.kh + 1) * pitch > kImageFloats ||
      s.h > INT32_MAX / 4 || pooled_h == 0 || a.pad_top + a.pad_bottom > INT32_MAX / 4) {
    return std::nullopt;
  }
  // As many bands as keep a device busy with few samples, and small enough for shared memory.
  const std::int64_t fitting = (kImageFloats / pitch - s.kh + 1) / 2;
  const std::int64_t wanted = (kItems + s.n - 1) / std::max<std::int64_t>(s.n, 1);
  const std::int64_t even = (pooled_h + wanted - 1) / std::max<std::int64_t>(wanted, 1);
  const std::int64_t rows = std::clamp<std::int64_t>(even, 1, std::min(fitting, pooled_h));
  ConvPoolBands bands{pooled_conv(s, a.activation, pitch)};
  bands.rows = narrow(rows);
  bands.bands = narrow((pooled_h + rows - 1) / rows);
  bands.items = s.n * bands.bands;
  return bands;
}

}  // namespace linnet::cuda
