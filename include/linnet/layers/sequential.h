// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layer.h>
#include <linnet/layers/settings.h>

#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Applies layers in order, as one layer with its own name. Its layers are named "<name>.<layer>",
/// numbered from 1 if they have no name.
struct Sequential {
  std::vector<Layer> layers = {};   ///< one layer or more, in order
  std::string kind = "sequential";  ///< first part of its default name
  std::string name = {};            ///< unique in the network; empty: the kind and a number
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
