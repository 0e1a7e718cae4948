// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Convolves images (a cross-correlation, as in every framework). Weight (filters, height, width,
/// channels / groups), bias (filters).
struct Conv2d {
  std::int64_t filters = 0;  ///< channels of the output; at least 1
  Size2d kernel = 3;         ///< the window, in pixels; at least 1
  Size2d stride = 1;         ///< pixels from one window to the next; at least 1
  Padding2d padding = {};    ///< zeros around the image, in pixels; at least 0
  Size2d dilation = 1;       ///< pixels from one element of the window to the next; at least 1
  /// Equal groups of channels, each with its own filters; divides channels and filters; at least 1.
  /// As many groups as channels make a depthwise convolution.
  std::int64_t groups = 1;
  bool bias = true;                ///< whether each filter adds a trained number
  Initializer weight_init = {};    ///< initial values of the weight
  Initializer bias_init = kZeros;  ///< initial values of the bias
  std::string name = {};           ///< unique in the network; empty: "conv2d_1", "conv2d_2", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
