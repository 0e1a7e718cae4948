// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings3d.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Takes the largest value of each window of a volume, channel by channel. Padding is never the
/// largest.
struct MaxPool3d {
  Size3d size = 2;    ///< the window, in voxels; at least 1
  Size3d stride = 0;  ///< voxels from one window to the next, at least 0; 0: the size
  /// Padding around the volume, in voxels, at least 0 and less than the size.
  Padding3d padding = {};
  std::string name = {};  ///< unique in the network; empty: "max_pool3d_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Takes the mean of each window of a volume, channel by channel.
struct AvgPool3d {
  Size3d size = 2;    ///< the window, in voxels; at least 1
  Size3d stride = 0;  ///< voxels from one window to the next, at least 0; 0: the size
  /// Padding around the volume, in voxels, at least 0 and less than the size.
  Padding3d padding = {};
  /// Whether padding counts as zeros in the mean, as in PyTorch, or is left out, as in Keras.
  bool count_include_pad = true;
  std::string name = {};  ///< unique in the network; empty: "avg_pool3d_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Takes the mean of each channel over the whole volume.
struct GlobalAvgPool3d {
  std::string name = {};  ///< unique in the network; empty: "global_avg_pool3d_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Takes the largest value of each channel of the volume.
struct GlobalMaxPool3d {
  std::string name = {};  ///< unique in the network; empty: "global_max_pool3d_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
