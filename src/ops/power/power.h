// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// y = a^b, element by element, of two operands of one shape, f32: as std::pow, so NaN for a < 0
/// unless b is whole, and 1 for b = 0. No gradient goes to a where b is 0, nor to b where a is 0,
/// as in PyTorch for b >= 0.
class PowerOp final : public OpBase<PowerOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "power";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { a, b };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::a, In::b}; }
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kKept;
  }
};

}  // namespace linnet
