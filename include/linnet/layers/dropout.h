// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Zeroes elements at random in training and scales the others by 1 / (1 - rate); at inference it
/// returns x.
struct Dropout {
  double rate = 0.5;      ///< probability of zeroing an element, in [0, 1)
  std::string name = {};  ///< unique in the network; empty: "dropout_1", "dropout_2", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
