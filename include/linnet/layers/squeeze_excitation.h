// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layer.h>
#include <linnet/layers/activations.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Scales each channel of an image by a factor that a small network computes from the means of all
/// channels (Hu et al., 2018): y = x * gate(fc2(activation(fc1(mean(x))))). Its dense layers are
/// named "<name>.fc1" (squeezed units) and "<name>.fc2" (as many units as channels).
struct SqueezeExcitation {
  std::int64_t squeezed = 0;  ///< units of fc1, usually a quarter of the channels; at least 1
  Layer activation = ReLU{};  ///< a layer that keeps the shape
  Layer gate = Sigmoid{};     ///< makes the factors; HardSigmoid{} in MobileNetV3
  std::string name = {};      ///< unique in the network; empty: "squeeze_excitation_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
