// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nn/definition.h"

namespace linnet {

/// A layer with weights, as conversions of layouts see it.
struct WeightLayer {
  enum class Kind : std::uint8_t { other, conv, dense, norm, embedding, gru, lstm };
  std::string name;
  Kind kind = Kind::other;
  std::map<std::string, Shape> weights = {};  ///< by role: "weight", "bias", "running_mean", ...
  std::vector<std::string> roles = {};        ///< in the network's order
  /// Dims (H, W, C), or (D, H, W, C), that a Flatten before a dense layer has joined; (): there is
  /// no Flatten.
  Shape flattened = {};
  std::int64_t planes = 0;  ///< of a Conv3d's kernel; 0: the layer is none
  bool first_conv = false;  ///< whether no other convolution comes before it

  bool has(const std::string& role) const { return weights.contains(role); }
};

/// Returns the layers of a network that have weights, in its order.
std::vector<WeightLayer> weight_layers(const NetworkDefinition& network);

/// Says whether the bottlenecks of a ResNet have their stride in the first 1x1 convolution; nothing
/// for a network without bottlenecks of ResNets.
enum class Bottlenecks : std::uint8_t { none, stride_first, stride_second };
Bottlenecks bottlenecks_of(const NetworkDefinition& network);

}  // namespace linnet
