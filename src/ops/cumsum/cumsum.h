// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct CumsumAttrs {
  int axis = 1;          ///< from the front, never the batch's 0
  bool reverse = false;  ///< whether sums begin at the end
  template <class V>
  void fields(V&& visit) {
    visit("axis", axis);
    visit("reverse", reverse);
  }
  bool operator==(const CumsumAttrs&) const = default;
};

/// y[..., k, ...] = the sum of x[..., 0..k, ...] along the axis, or of x[..., k.., ...] in reverse.
/// f32 of one shape, added one after the other. The gradient is the sum the other way round.
class CumsumOp final : public OpBase<CumsumOp, CumsumAttrs> {
 public:
  static constexpr std::string_view kName = "cumsum";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::x}; }
  /// Padding comes after the steps that count, and adds to no sum before it.
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kept_if(attrs().axis != 1 || !attrs().reverse, steps::kReduced);
  }
};

}  // namespace linnet
