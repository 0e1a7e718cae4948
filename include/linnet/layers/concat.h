// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layer.h>
#include <linnet/layers/settings.h>

#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Joins the outputs of several branches of the same input along the last axis (for images the
/// channels). Layers are named "<name>.<branch>.<layer>", branches from 1; if only one branch has
/// layers, "<name>.<layer>". Throws Error if results differ in more than their last axis.
struct Concat {
  std::vector<std::vector<Layer>> branches = {};  ///< layers of each, in order; none: x itself
  std::string name = {};                          ///< unique in the network; empty: "concat_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
