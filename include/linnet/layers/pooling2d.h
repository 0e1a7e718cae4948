// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Takes the largest value of each window, channel by channel. Padding is never the largest.
struct MaxPool2d {
  Size2d size = 2;    ///< the window, in pixels; at least 1
  Size2d stride = 0;  ///< pixels from one window to the next, at least 0; 0: the size
  /// Padding around the image, in pixels, at least 0 and less than the size.
  Padding2d padding = {};
  std::string name = {};  ///< unique in the network; empty: "max_pool2d_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Takes the mean of each window, channel by channel.
struct AvgPool2d {
  Size2d size = 2;    ///< the window, in pixels; at least 1
  Size2d stride = 0;  ///< pixels from one window to the next, at least 0; 0: the size
  /// Padding around the image, in pixels, at least 0 and less than the size.
  Padding2d padding = {};
  /// Whether padding counts as zeros in the mean, as in PyTorch, or is left out, as in Keras.
  bool count_include_pad = true;
  std::string name = {};  ///< unique in the network; empty: "avg_pool2d_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Takes the mean of bins of nearly equal size that cover the image (adaptive average pool). Bin i
/// goes from floor(i in / out) to ceil((i + 1) in / out), as in PyTorch.
struct AdaptiveAvgPool2d {
  Size2d output = 1;      ///< size of the output, in bins; at least 1
  std::string name = {};  ///< unique in the network; empty: "adaptive_avg_pool2d_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
