// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// The dimensions of the operator.
struct CachedAttentionDims {
  explicit CachedAttentionDims(const Shape& keys)
      : items(keys[0] * keys[1]), size(keys[2]), steps(keys[3]) {}

  std::int64_t items = 0;  ///< heads of all samples
  std::int64_t size = 0;
  std::int64_t steps = 0;  ///< that the caches hold
};

/// One step of a causal attention whose earlier keys and values are in caches: appends k and v at
/// step `position` and returns y = softmax(q k^T) v over the steps up to it. q, k, v and y (N,
/// heads, 1, size); keys (N, heads, size, T) and values (N, heads, T, size) are mutated; all f32.
/// position i32 (1), for all samples; outside [0, T) nothing is appended and y is NaN.
class CachedAttentionOp final : public OpBase<CachedAttentionOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "cached_attention";
  enum In : std::uint8_t { q, k, v, keys, values, position };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  bool mutates(std::size_t input) const override {
    return input == In::keys || input == In::values;
  }
};

}  // namespace linnet
