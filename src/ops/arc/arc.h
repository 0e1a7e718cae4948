// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Inverses of trigonometric and hyperbolic functions, NaN outside of their range.
enum class Arc : std::uint8_t { asin, acos, atan, asinh, acosh, atanh };
constexpr std::array<std::string_view, 6> enum_names(Arc) {
  return {"asin", "acos", "atan", "asinh", "acosh", "atanh"};
}

struct ArcAttrs {
  Arc kind = Arc::asin;
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
  }
  bool operator==(const ArcAttrs&) const = default;
};

/// y = f(x), any shape, f32. The slope is composed of other operators.
class ArcOp final : public OpBase<ArcOp, ArcAttrs> {
 public:
  static constexpr std::string_view kName = "arc";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::x}; }
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kKept;
  }
};

}  // namespace linnet
