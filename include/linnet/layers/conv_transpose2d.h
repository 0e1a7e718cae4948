// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Leads back through a Conv2d of these settings, as PyTorch's ConvTranspose2d: the output has
/// (in - 1) stride + (kernel - 1) dilation + 1 + output_padding - padding pixels along each axis,
/// with padding "same" in * stride. Weight (channels, height, width, filters / groups), bias
/// (filters).
struct ConvTranspose2d {
  std::int64_t filters = 0;  ///< channels of the output; at least 1
  Size2d kernel = 3;         ///< the window, in pixels; at least 1
  Size2d stride = 1;         ///< pixels of the output for one of the input; at least 1
  Padding2d padding = {};    ///< pixels that the output lacks on each side; at least 0
  /// Pixels that are added below and to the right, below the stride, none with padding "same"; at
  /// least 0.
  Size2d output_padding = 0;
  Size2d dilation = 1;           ///< pixels from one element of the window to the next; at least 1
  std::int64_t groups = 1;       ///< equal parts of the channels, see Conv2d; at least 1
  bool bias = true;              ///< whether each filter adds a trained number
  Initializer weight_init = {};  ///< how the weight starts
  Initializer bias_init = kZeros;  ///< how the bias starts
  std::string name = {};           ///< unique in the network; empty: "conv_transpose2d_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
