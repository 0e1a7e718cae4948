// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Computes y = min(max(x, lower), upper), with bounds of their own for each output (the last
/// axis): a prediction leaves the range that is possible in no case. OpenNN's bounding layer. There
/// is no gradient through an output beyond its bound, so a network whose outputs all start there
/// learns nothing.
struct Bounding {
  /// Lower bounds, one for each output or one for all; one that no output reaches leaves it open.
  std::vector<double> lower = {};
  /// Upper bounds, one for each output or one for all, not below the lower ones.
  std::vector<double> upper = {};
  std::string name = {};  ///< unique in the network; empty: "bounding_1", "bounding_2", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
