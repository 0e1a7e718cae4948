// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Computes y = (x * scale - mean) / std, channel by channel (the last axis, at most 16 of them),
/// as torchvision's ToTensor and Normalize do with pixels. As the first layer it costs nothing: the
/// gather of the batch computes it.
struct Normalize {
  /// Mean of the scaled values, one for each channel or one for all.
  std::vector<double> mean = {0};
  /// Standard deviation of the scaled values, one for each channel or one for all; above 0.
  std::vector<double> std = {1};
  double scale = 1.0 / 255;  ///< factor on the values before both; 1/255 for pixels of 0 to 255
  std::string name = {};     ///< unique in the network; empty: "normalize_1", ...
  void build(NetworkBuilder& builder) const;
};
/// Returns a Normalize with mean and std of ImageNet's training images (red, green, blue in [0,
/// 1]).
inline Normalize imagenet_pixels() { return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}}; }

}  // namespace linnet
LINNET_API_END
