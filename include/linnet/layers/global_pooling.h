// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Takes the mean of each channel over the whole image.
struct GlobalAvgPool2d {
  std::string name = {};  ///< unique in the network; empty: "global_avg_pool2d_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Takes the largest value of each channel of the image.
struct GlobalMaxPool2d {
  std::string name = {};  ///< unique in the network; empty: "global_max_pool2d_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Takes the mean over the steps, or over those that count where sequences have lengths.
struct GlobalAvgPool1d {
  std::string name = {};  ///< unique in the network; empty: "global_avg_pool1d_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Takes the largest value over the steps, or over those that count where sequences have lengths.
struct GlobalMaxPool1d {
  std::string name = {};  ///< unique in the network; empty: "global_max_pool1d_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
