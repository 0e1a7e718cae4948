// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace linnet {

struct ExpandAttrs {
  std::vector<std::int64_t> shape;  ///< of a sample of the result
  template <class V>
  void fields(V&& visit) {
    visit("shape", shape);
  }
  bool operator==(const ExpandAttrs&) const = default;
};

/// Repeats x: y (N, shape...), f32. Of one operand, x (N, ...) has as many axes as y, each of y's
/// dimension or 1. Of two, x has no batch, and its axes are the last ones of a sample or 1; of the
/// second, (N, ...) of any type, the number of rows alone is read. Throws Error for any other x,
/// and where the repeated axes lie at two places between others, as for (N, 1, W, 1). The gradient
/// is the sum over the repetitions.
class ExpandOp final : public OpBase<ExpandOp, ExpandAttrs> {
 public:
  static constexpr std::string_view kName = "expand";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x, rows };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  StepsRule steps(std::size_t operand, const Shape& x, const Shape& y) const override {
    if (operand > 0) return steps::kUnread;
    return steps::kept_if(y.rank() == x.rank() && has_steps_of(y, x), steps::kMixed);
  }
};

}  // namespace linnet
