// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layer.h>
#include <linnet/layers/activations.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Computes one layer of a transformer's encoder, as PyTorch's TransformerEncoderLayer does:
/// x = norm1(x + dropout(attention(x))), then x = norm2(x +
/// dropout(linear2(dropout(f(linear1(x)))))). Parameters are named as in PyTorch:
/// "self_attn.in_proj_weight", "linear1.weight", "norm1.weight".
struct TransformerEncoderLayer {
  /// Number of heads of the attention, which divides the features; at least 1.
  std::int64_t heads = 1;
  std::int64_t feed_forward = 2048;  ///< units of linear1; at least 1
  double dropout = 0.1;              ///< probability of zeroing an element, in [0, 1)
  Layer activation = ReLU{};         ///< f, a layer that keeps the shape
  bool norm_first = false;           ///< whether the norms come before attention and linear1
  bool causal = false;               ///< whether a step attends only to itself and earlier steps
  double epsilon = 1e-5;             ///< epsilon of the layer norms; above 0
  std::string name = {};  ///< unique in the network; empty: "transformer_encoder_layer_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
