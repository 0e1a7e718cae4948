// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Turns scores into probabilities along the last axis: e^x over the sum of all e^x.
struct Softmax {
  std::string name = {};  ///< unique in the network; empty: "softmax_1", "softmax_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes the logarithm of Softmax without loss of precision.
struct LogSoftmax {
  std::string name = {};  ///< unique in the network; empty: "log_softmax_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
