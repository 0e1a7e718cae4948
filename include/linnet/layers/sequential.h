// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layer.h>
#include <linnet/layers/settings.h>

#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Applies layers in order, as one layer: a composition with a name of its own. Its layers are
/// named "<name>.<layer>", numbered from 1 where they have no name.
struct Sequential {
  std::vector<Layer> layers = {};   ///< one layer or more, in order
  std::string kind = "sequential";  ///< what it is called with a number where it has no name
  std::string name = {};            ///< unique in the network; empty: the kind and a number
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
