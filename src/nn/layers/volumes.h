// SPDX-License-Identifier: Apache-2.0
#pragma once

// Layers over volumes (N, D, H, W, C) that are done by layers over images.
#include <linnet/functions.h>
#include <linnet/layers/conv3d.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "nn/builder.h"

namespace linnet {

/// Returns the shape of the builder's volumes. Throws Error unless they are such, all of one depth.
inline Shape require_volumes(NetworkBuilder& builder, std::string_view kind,
                             const std::string& layer) {
  Shape x = builder.shape();
  require(x.rank() == 5, "[{} '{}'] expected volumes (N, D, H, W, C); got {}", kind, layer,
          to_string(x));
  if (builder.lengths()) fail_on_lengths(kind, layer, steps::kNeighbours);
  return x;
}

/// Convolves samples (D, H, W, C) by the weight and the bias of a Conv3d, null: none. The planes
/// under a kernel become channels of an image, one image for each plane of the result, which conv2d
/// convolves. Throws Error where the kernel does not fit.
Expression convolve_volumes(const Expression& x, const Expression& weight, const Expression* bias,
                            const Conv3d& conv);

/// The planes that the images of a convolution are made of, along the depth of volumes.
struct CoveredPlanes {
  Value x;                 ///< volumes (N, D, H, W, C)
  std::int64_t count = 1;  ///< under the kernel
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t front = 0;  ///< planes of padding
  std::int64_t back = 0;
  std::vector<const Node*> nodes = {};  ///< what makes the images
};
/// Returns what a conv2d that is part of a Conv3d convolves; none of other convolutions.
std::optional<CoveredPlanes> covered_planes(const Graph& graph, const Node& conv);

}  // namespace linnet
