// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct SelectAttrs {
  bool when = true;  ///< of two operands: a stands where the condition is this
  double value = 0;  ///< of two operands: stands elsewhere; finite
  template <class V>
  void fields(V&& visit) {
    visit("when", when);
    visit("value", value);
  }
  bool operator==(const SelectAttrs&) const = default;
};

/// Of three operands (condition, a, b): a where the condition is not 0, else b. Of two (condition,
/// a): a where the condition agrees with `when`, else `value`. f32 of one shape; a condition of NaN
/// is not 0. What is not selected gets a gradient of 0, be dy NaN.
class SelectOp final : public OpBase<SelectOp, SelectAttrs> {
 public:
  static constexpr std::string_view kName = "select";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { condition, a, b };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::condition, In::a}; }
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kKept;
  }
};

}  // namespace linnet
