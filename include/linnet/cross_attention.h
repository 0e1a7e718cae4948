// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/expression.h>

#include <cstdint>
#include <string>

LINNET_API_BEGIN
namespace linnet {

/// Describes a cross-attention.
struct CrossAttentionOptions {
  std::int64_t heads = 1;  ///< number of heads, which divides the query's features; at least 1
  double dropout = 0;      ///< probability of zeroing an element of the softmax, in [0, 1)
  std::string name = {};   ///< unique in the network; empty: "cross_attention_1", ...
};

/// Lets every step of a query (T, features) attend to all steps of a memory (S, width), which keys
/// and values are made of (Vaswani et al., 2017): softmax(q kᵀ / sqrt(features / heads)) v in each
/// head, (T, features). Steps that lengths of the memory leave out are not attended to; the result
/// has the query's lengths.
///
/// Weights and their initialisation are those of PyTorch's nn.MultiheadAttention with kdim and vdim
/// of the width: "q_proj_weight" (features, features), "k_proj_weight" and "v_proj_weight"
/// (features, width), or "in_proj_weight" (3 features, features) of all three where both have
/// equal features, "in_proj_bias" (3 features), "out_proj.weight" (features, features) and
/// "out_proj.bias" (features). Throws Error naming the shapes, and in a loss, which has no weights.
Expression cross_attention(const Expression& query, const Expression& memory,
                           const CrossAttentionOptions& options = {});

}  // namespace linnet
LINNET_API_END
