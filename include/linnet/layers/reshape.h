// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Joins all axes of a sample to one, in (H, W, C) order.
struct Flatten {
  std::string name = {};  ///< unique in the network; empty: "flatten_1", "flatten_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Gives each sample another shape with as many elements, in row-major order.
struct Reshape {
  Shape sample = {};      ///< the shape, without the batch; each axis at least 1
  std::string name = {};  ///< unique in the network; empty: "reshape_1", "reshape_2", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
