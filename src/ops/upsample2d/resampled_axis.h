// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "ops/upsample2d/upsample2d.h"

namespace linnet {

/// Weights of an output pixel along one axis: (1 - weight) of `first` and weight of `second`.
template <class T>
struct Taps {
  std::int64_t first = 0;
  std::int64_t second = 0;
  T weight = 0;

  LINNET_HOST_DEVICE T of(std::int64_t pixel) const {
    return (pixel == first ? 1 - weight : T{0}) + (pixel == second ? weight : T{0});
  }
};

/// One axis of an image that is resampled; for references and kernels.
struct ResampledAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  bool bilinear = false;

  template <class T>
  LINNET_HOST_DEVICE Taps<T> taps(std::int64_t i) const {
    if (!bilinear) {
      const std::int64_t nearest = i * in / out;
      return {nearest, nearest, T{0}};
    }
    // (2i + 1) in / (2 out) - 1/2, its whole part in integers.
    const std::int64_t twice = (2 * i + 1) * in - out;
    if (twice <= 0) return {0, 0, T{0}};
    const std::int64_t first = twice / (2 * out);
    if (first >= in - 1) return {in - 1, in - 1, T{0}};
    return {first, first + 1, static_cast<T>(twice - first * 2 * out) / static_cast<T>(2 * out)};
  }

  /// [first, end) holds every output that reads the pixel, and perhaps neighbours of weight 0.
  LINNET_HOST_DEVICE std::int64_t first_reader(std::int64_t pixel) const {
    const std::int64_t first = (2 * pixel - 1) * out / (2 * in) - 1;
    return first < 0 ? 0 : first;
  }
  LINNET_HOST_DEVICE std::int64_t end_of_readers(std::int64_t pixel) const {
    const std::int64_t end = (2 * pixel + 3) * out / (2 * in) + 2;
    return end > out ? out : end;
  }
};

}  // namespace linnet
