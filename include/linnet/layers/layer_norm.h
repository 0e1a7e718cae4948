// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Normalises over the last axes of each sample, then scales and shifts element by element (Ba et
/// al., 2016). Weight and bias have the shape of those axes.
struct LayerNorm {
  double epsilon = 1e-5;  ///< added to the variance; above 0
  std::int64_t axes = 1;  ///< number of last axes to normalise; at least 1
  std::string name = {};  ///< unique in the network; empty: "layer_norm_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Divides by the root of the mean square over the last axis, then scales element by element (Zhang
/// and Sennrich, 2019). Weight (features).
struct RMSNorm {
  double epsilon = 1e-6;  ///< added to the mean square; above 0
  std::string name = {};  ///< unique in the network; empty: "rms_norm_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
