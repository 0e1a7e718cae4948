// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct ConcatAttrs {
  int axis = 1;  ///< from the front, never the batch's 0
  template <class V>
  void fields(V&& visit) {
    visit("axis", axis);
  }
  bool operator==(const ConcatAttrs&) const = default;
};

/// The operands, one or more, one after the other along one axis: y's dimension there is the sum of
/// theirs. f32, any rank from 2 on. Throws Error unless 1 <= axis < rank and the shapes agree in
/// all other axes. The gradient is a slice of dy for each operand.
class ConcatOp final : public OpBase<ConcatOp, ConcatAttrs> {
 public:
  static constexpr std::string_view kName = "concat";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { first };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kept_if(attrs().axis != 1, steps::kAppended);
  }
};

}  // namespace linnet
