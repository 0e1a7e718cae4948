// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Convolves each channel separately, then all channels by 1x1 (Chollet, 2017): layers
/// "<name>.depthwise" (without bias) and "<name>.pointwise".
struct SeparableConv2d {
  std::int64_t filters = 0;  ///< channels of the output; at least 1
  Size2d kernel = 3;         ///< the window of the depthwise convolution, in pixels; at least 1
  Size2d stride = 1;         ///< pixels from one window to the next; at least 1
  Padding2d padding = {};    ///< zeros around the image, in pixels; at least 0
  Size2d dilation = 1;       ///< pixels from one element of the window to the next; at least 1
  /// Output channels of the depthwise convolution per input channel; at least 1.
  std::int64_t multiplier = 1;
  bool bias = true;                ///< whether each filter adds a trained number
  Initializer weight_init = {};    ///< initial values of both weights
  Initializer bias_init = kZeros;  ///< initial values of the bias
  std::string name = {};           ///< unique in the network; empty: "separable_conv2d_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
