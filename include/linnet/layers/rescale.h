// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Computes y = x * scale + shift. As the first layer it costs nothing: the gather of the batch
/// computes it.
struct Rescale {
  double scale = 1.0 / 255;  ///< the factor; 1/255 for pixels of 0 to 255
  double shift = 0;          ///< the number added after scaling
  std::string name = {};     ///< unique in the network; empty: "rescale_1", "rescale_2", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
