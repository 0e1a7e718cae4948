// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings3d.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Convolves volumes (a cross-correlation, as in every framework). Weight (filters, height, width,
/// depth * channels / groups), where a plane's channels follow those of the plane before it; bias
/// (filters). Takes memory for as many copies of the input as the kernel has planes.
struct Conv3d {
  std::int64_t filters = 0;  ///< channels of the output; at least 1
  Size3d kernel = 3;         ///< the window, in voxels; at least 1
  Size3d stride = 1;         ///< voxels from one window to the next; at least 1
  Padding3d padding = {};    ///< zeros around the volume, in voxels; at least 0
  Size3d dilation = 1;       ///< voxels from one element of the window to the next; at least 1
  /// Equal groups of channels, each with its own filters; divides channels and filters; at least 1.
  std::int64_t groups = 1;
  bool bias = true;                ///< whether each filter adds a trained number
  Initializer weight_init = {};    ///< initial values of the weight
  Initializer bias_init = kZeros;  ///< initial values of the bias
  std::string name = {};           ///< unique in the network; empty: "conv3d_1", "conv3d_2", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
