// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "ops/dropout/dropout.h"

namespace linnet {

struct AttentionAttrs {
  double scale = 1;     ///< of the products of queries and keys
  bool causal = false;  ///< whether query i sees keys 0 to i alone
  /// Whether there is one operand (N, T, 3, heads, size) of queries, keys and values, as a layer
  /// projects them, and y is (N, T, heads, size).
  bool together = false;
  double dropout = 0;       ///< probability that a weight is 0; the others are divided by the rest
  std::int64_t stream = 0;  ///< as DropoutAttrs::stream
  template <class V>
  void fields(V&& visit) {
    visit("scale", scale);
    visit("causal", causal);
    visit("together", together);
    visit("dropout", dropout);
    visit("stream", stream);
  }
  bool operator==(const AttentionAttrs&) const = default;
};

/// y = softmax(scale q k^T) v for every pair of matrices (Vaswani et al., 2017): q (N, ..., T,
/// size), k (N, ..., keys, size), v (N, ..., keys, width) with the same leading axes, y (N, ..., T,
/// width); f32. No matrix (T, keys) is kept: `sums`, the logarithm of what the exponentials of a
/// row add up to, (N, ..., T), lets the gradient compute the weights again.
class AttentionOp final : public OpBase<AttentionOp, AttentionAttrs> {
 public:
  static constexpr std::string_view kName = "attention";
  enum In : std::uint8_t { q, k, v };
  enum Out : std::uint8_t { y, sums };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  std::shared_ptr<const Op> at_inference(std::shared_ptr<const Op> self) const override;
};

/// dq, dk and dv from (dy, y, sums, q, k, v), or one gradient (N, T, 3, heads, size) where the
/// operands lie together. With weights p = exp(scale q k^T - sums), factors f of the dropout, and
/// slopes s = p (f dy v^T - the row's sum of dy y): dv = (f p)^T dy, dq = scale s k, dk = scale s^T
/// q (Dao et al., 2022).
class AttentionGradOp final : public OpBase<AttentionGradOp, AttentionAttrs> {
 public:
  static constexpr std::string_view kName = "attention_grad";
  enum In : std::uint8_t { dy, y, sums, q, k, v };
  enum Out : std::uint8_t { dq, dk, dv };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

/// Returns the dropout of the weights.
inline DropoutAttrs dropout_of(const AttentionAttrs& attrs) {
  return {.rate = attrs.dropout, .stream = attrs.stream};
}

/// Where matrices lie: that of head h of group n begins at n * group + h * head.
struct AttentionPlaces {
  std::int64_t group = 0;
  std::int64_t head = 0;
  std::int64_t row = 0;    ///< elements from one row to the next
  std::int64_t first = 0;  ///< the first element
};

/// The dimensions of an attention and the places of its operands.
struct AttentionDims {
  /// `operands`: those of AttentionOp.
  AttentionDims(const AttentionAttrs& attrs, std::span<const ValueType> operands);
  AttentionDims(const AttentionAttrs& attrs, std::span<ReferenceTensor* const> operands);

  /// Returns the first element of a matrix; index: of groups * heads.
  std::int64_t begin(const AttentionPlaces& of, std::int64_t index) const {
    return of.first + index / heads * of.group + index % heads * of.head;
  }
  std::int64_t matrices() const { return groups * heads; }
  /// Returns how many keys query i sees.
  std::int64_t seen(std::int64_t i) const { return causal ? std::min(i + 1, keys) : keys; }
  /// Returns the place of the weight of query i and key 0 in the tensor of all weights of the
  /// batch.
  std::uint64_t weight(const StepInfo& step, std::int64_t matrix, std::int64_t i) const {
    const std::int64_t of_sample = samples == 0 ? 0 : matrices() / samples * queries * keys;
    return step.first_row * static_cast<std::uint64_t>(of_sample) +
           static_cast<std::uint64_t>((matrix * queries + i) * keys);
  }
  /// Returns the FLOPs of `products` products of queries and keys, and as many with values.
  double flops(double products) const {
    return products * 2.0 * static_cast<double>(matrices() * queries) *
           static_cast<double>(keys * (size + width)) * (causal ? 0.5 : 1.0);
  }

  std::int64_t samples = 0;
  std::int64_t groups = 1;
  std::int64_t heads = 1;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::int64_t size = 0;   ///< of a query and a key
  std::int64_t width = 0;  ///< of a value
  bool causal = false;
  AttentionPlaces q, k, v, y;

 private:
  AttentionDims(const AttentionAttrs& attrs, const std::vector<Shape>& operands);
};

}  // namespace linnet
