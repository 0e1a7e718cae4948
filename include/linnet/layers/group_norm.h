// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Normalises each sample over the pixels and the channels of each of `groups` equal parts of the
/// last axis, then scales and shifts each channel (Wu and He, 2018). Weight and bias (channels).
struct GroupNorm {
  /// Number of groups, which divides the channels; at least 1. As many groups as channels make an
  /// instance norm.
  std::int64_t groups = 1;
  double epsilon = 1e-5;  ///< added to the variance; above 0
  std::string name = {};  ///< unique in the network; empty: "group_norm_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Normalises each channel of each sample over the pixels, or over the steps of a sequence, then
/// scales and shifts it (Ulyanov et al., 2016): PyTorch's InstanceNorm2d with affine=True. Weight
/// and bias (channels).
struct InstanceNorm {
  double epsilon = 1e-5;  ///< added to the variance; above 0
  std::string name = {};  ///< unique in the network; empty: "instance_norm_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
