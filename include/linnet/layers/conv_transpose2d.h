// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Computes the transpose of a Conv2d with these settings, as PyTorch's ConvTranspose2d does. The
/// output has (in - 1) stride + (kernel - 1) dilation + 1 + output_padding - padding pixels along
/// each axis, with padding "same" in * stride. Weight (channels, height, width, filters / groups),
/// bias (filters).
struct ConvTranspose2d {
  std::int64_t filters = 0;  ///< channels of the output; at least 1
  Size2d kernel = 3;         ///< the window, in pixels; at least 1
  Size2d stride = 1;         ///< pixels of the output per pixel of the input; at least 1
  Padding2d padding = {};    ///< pixels removed from the output on each side; at least 0
  /// Pixels added at the bottom and the right, at least 0 and less than the stride; none with
  /// padding "same".
  Size2d output_padding = 0;
  Size2d dilation = 1;           ///< pixels from one element of the window to the next; at least 1
  std::int64_t groups = 1;       ///< equal groups of channels, see Conv2d; at least 1
  bool bias = true;              ///< whether each filter adds a trained number
  Initializer weight_init = {};  ///< initial values of the weight
  Initializer bias_init = kZeros;  ///< initial values of the bias
  std::string name = {};           ///< unique in the network; empty: "conv_transpose2d_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
