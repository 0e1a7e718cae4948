// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Convolves channel by channel, then over the channels by 1x1 (Chollet, 2017): layers
/// "<name>.depthwise" (without bias) and "<name>.pointwise".
struct SeparableConv2d {
  std::int64_t filters = 0;      ///< channels of the output; at least 1
  Size2d kernel = 3;             ///< the window of the first one, in pixels; at least 1
  Size2d stride = 1;             ///< pixels from one window to the next; at least 1
  Padding2d padding = {};        ///< zeros around the image, in pixels; at least 0
  Size2d dilation = 1;           ///< pixels from one element of the window to the next; at least 1
  std::int64_t multiplier = 1;   ///< channels that the first one makes of each; at least 1
  bool bias = true;              ///< whether each filter adds a trained number
  Initializer weight_init = {};  ///< how both weights start
  Initializer bias_init = kZeros;  ///< how the bias starts
  std::string name = {};           ///< unique in the network; empty: "separable_conv2d_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
