// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Lets every step attend to all steps (Vaswani et al., 2017): softmax(q kᵀ / sqrt(features /
/// heads)) v in each head. Weights and their initialisation are those of PyTorch's
/// nn.MultiheadAttention: "in_proj_weight" (3 features, features) of query, key and value,
/// "in_proj_bias" (3 features), "out_proj.weight" (features, features) and "out_proj.bias"
/// (features).
struct MultiHeadAttention {
  std::int64_t heads = 1;  ///< number of heads, which divides the features; at least 1
  bool causal = false;     ///< whether a step attends only to itself and earlier steps
  double dropout = 0;      ///< probability of zeroing an element of the softmax, in [0, 1)
  std::string name = {};   ///< unique in the network; empty: "multi_head_attention_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
