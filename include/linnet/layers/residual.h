// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layer.h>
#include <linnet/layers/settings.h>

#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Computes y = body(x) + shortcut(x) (He et al., 2016). Its layers are named "<name>.<layer>" and
/// "<name>.shortcut.<layer>", numbered from 1 in each if they have no name. Throws Error if body
/// and shortcut end in different shapes.
struct Residual {
  std::vector<Layer> body = {};      ///< one layer or more, in order
  std::vector<Layer> shortcut = {};  ///< layers of the shortcut; none: x itself
  std::string name = {};             ///< unique in the network; empty: "residual_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
