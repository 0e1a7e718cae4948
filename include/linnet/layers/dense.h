// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Computes y = x wᵀ + b along the last axis. Weight (units, features), bias (units).
struct Dense {
  std::int64_t units = 0;          ///< features of the output; at least 1
  bool bias = true;                ///< whether each unit adds a trained number
  Initializer weight_init = {};    ///< initial values of the weight
  Initializer bias_init = kZeros;  ///< initial values of the bias
  std::string name = {};           ///< unique in the network; empty: "dense_1", "dense_2", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
