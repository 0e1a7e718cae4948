// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/host_device.h"
#include "graph/graph.h"

namespace linnet {

enum class Comparison : std::uint8_t { greater, greater_equal, less, less_equal, equal, not_equal };
constexpr std::array<std::string_view, 6> enum_names(Comparison) {
  return {"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"};
}

struct CompareAttrs {
  Comparison kind = Comparison::greater;
  double value = 0;  ///< what a single operand is compared with, rounded to f32
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
    visit("value", value);
  }
  bool operator==(const CompareAttrs&) const = default;
};

/// 1 where a stands in that relation to b, else 0; with NaN on either side 0, for not_equal 1.
template <Comparison kKind, class T>
LINNET_HOST_DEVICE constexpr bool compare(T a, T b) {
  if constexpr (kKind == Comparison::greater) return a > b;
  if constexpr (kKind == Comparison::greater_equal) return a >= b;
  if constexpr (kKind == Comparison::less) return a < b;
  if constexpr (kKind == Comparison::less_equal) return a <= b;
  if constexpr (kKind == Comparison::equal) return a == b;
  return a != b;
}

/// Calls f.operator()<kKind>() for the kind: a kernel's inner loop knows it at compile time.
template <class F>
auto with_comparison(Comparison kind, F&& f) {
  switch (kind) {
    case Comparison::greater: return f.template operator()<Comparison::greater>();
    case Comparison::greater_equal: return f.template operator()<Comparison::greater_equal>();
    case Comparison::less: return f.template operator()<Comparison::less>();
    case Comparison::less_equal: return f.template operator()<Comparison::less_equal>();
    case Comparison::equal: return f.template operator()<Comparison::equal>();
    case Comparison::not_equal: break;
  }
  return f.template operator()<Comparison::not_equal>();
}

/// y = compare(a, b), f32: of two operands of one shape, f32 or i32, or of one f32 operand with
/// CompareAttrs::value. No gradient.
class CompareOp final : public OpBase<CompareOp, CompareAttrs> {
 public:
  static constexpr std::string_view kName = "compare";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { a, b };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kKept;
  }
};

}  // namespace linnet
