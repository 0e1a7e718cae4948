// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Resamples images to a multiple of their height and width, as PyTorch's Upsample: pixels lie at
/// half-pixel centres (align_corners=False). resize2d() takes any size.
struct UpSample2d {
  Size2d scale = 2;       ///< factor of the height and of the width; at least 1
  bool bilinear = false;  ///< whether to interpolate bilinearly instead of taking the nearest pixel
  std::string name = {};  ///< unique in the network; empty: "upsample2d_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
