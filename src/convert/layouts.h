// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/convert.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "convert/name_rules.h"
#include "convert/network_layers.h"

namespace linnet {

/// A tensor of a layer in a file, and the weights of ours that it holds.
struct TheirTensor {
  std::string role;  ///< "weight", "kernel", "gamma", ...
  Shape shape;
  std::vector<std::string> ours;  ///< roles
  /// Our weights, f32, of a tensor of this shape, f32.
  std::function<std::vector<Tensor>(const Tensor& theirs)> to_ours;
  /// Does the inverse.
  std::function<Tensor(std::span<const Tensor> ours)> to_theirs;
};

/// Returns the tensors that hold a layer's weights there, in order. `bgr`: the channels of the
/// images that the first convolution reads are in the opposite order. Throws Error for a layer that
/// has no counterpart.
std::vector<TheirTensor> their_tensors(const WeightLayer& layer, WeightNames names,
                                       const NameRule& rule, bool bgr);

}  // namespace linnet
