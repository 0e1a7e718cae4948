// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layer.h>
#include <linnet/layers/activations.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// One layer of a transformer's encoder, as PyTorch's TransformerEncoderLayer:
/// x = norm1(x + dropout(attention(x))), then x = norm2(x +
/// dropout(linear2(dropout(f(linear1(x)))))). Parameters are named as there:
/// "self_attn.in_proj_weight", "linear1.weight", "norm1.weight".
struct TransformerEncoderLayer {
  std::int64_t heads = 1;            ///< of the attention; divides the features; at least 1
  std::int64_t feed_forward = 2048;  ///< units of linear1; at least 1
  double dropout = 0.1;              ///< probability of zeroing an element, in [0, 1)
  Layer activation = ReLU{};         ///< f, a layer that keeps the shape
  bool norm_first = false;           ///< whether the norms stand before attention and linear1
  bool causal = false;               ///< whether no step sees those after it
  double epsilon = 1e-5;             ///< of the layer norms; above 0
  std::string name = {};  ///< unique in the network; empty: "transformer_encoder_layer_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
