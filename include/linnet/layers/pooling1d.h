// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Takes the largest value of each window of steps, feature by feature.
struct MaxPool1d {
  std::int64_t size = 2;    ///< the window, in steps; at least 1
  std::int64_t stride = 0;  ///< steps from one window to the next, at least 0; 0: the size
  Padding2d padding = {};   ///< padding before and after the steps (left and right); at least 0
  std::string name = {};    ///< unique in the network; empty: "max_pool1d_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Takes the mean of each window of steps, feature by feature. Padding counts as zeros.
struct AvgPool1d {
  std::int64_t size = 2;    ///< the window, in steps; at least 1
  std::int64_t stride = 0;  ///< steps from one window to the next, at least 0; 0: the size
  Padding2d padding = {};   ///< padding before and after the steps (left and right); at least 0
  std::string name = {};    ///< unique in the network; empty: "avg_pool1d_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
