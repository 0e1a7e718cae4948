// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace linnet {

enum class Arithmetic : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  maximum,  ///< NaN if one of them is; where both are equal, each gets half of the gradient
  minimum,
  exceeds,  ///< 1 where a > b, 1/2 where they are equal, else 0; no gradient
};
constexpr std::array<std::string_view, 7> enum_names(Arithmetic) {
  return {"add", "subtract", "multiply", "divide", "maximum", "minimum", "exceeds"};
}

struct ArithmeticAttrs {
  Arithmetic kind = Arithmetic::add;
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
  }
  bool operator==(const ArithmeticAttrs&) const = default;
};

/// y = a (op) b, element by element, f32. b's axes are a's last ones or of dimension 1, and b is
/// repeated along the others: a (N, H, W, C) goes with b (C), (H, W, C), (N, 1, 1, 1), (N, 1, 1,
/// C), (H, W, 1) and (). Throws Error for any other b, and where b would be repeated between its
/// own axes at two places, as (N, 1, W, 1).
class ArithmeticOp final : public OpBase<ArithmeticOp, ArithmeticAttrs> {
 public:
  static constexpr std::string_view kName = "arithmetic";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { a, b };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::a}; }
  /// An operand of fewer axes, or with one step that is repeated, has its steps elsewhere.
  StepsRule steps(std::size_t /*operand*/, const Shape& x, const Shape& y) const override {
    return steps::kept_if(y.rank() == x.rank() && has_steps_of(y, x), steps::kMixed);
  }
};

struct SumLeadingAttrs {
  std::int64_t axes = 1;  ///< how many of the first axes are summed over
  template <class V>
  void fields(V&& visit) {
    visit("axes", axes);
  }
  bool operator==(const SumLeadingAttrs&) const = default;
};

/// The sum over the first axes: the gradient of an operand that was repeated along them.
class SumLeadingOp final : public OpBase<SumLeadingOp, SumLeadingAttrs> {
 public:
  static constexpr std::string_view kName = "sum_leading";
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

struct ScaleAttrs {
  double alpha = 1;
  double beta = 0;
  template <class V>
  void fields(V&& visit) {
    visit("alpha", alpha);
    visit("beta", beta);
  }
  bool operator==(const ScaleAttrs&) const = default;
};

/// y = alpha * x + beta, any shape, f32.
class ScaleOp final : public OpBase<ScaleOp, ScaleAttrs> {
 public:
  static constexpr std::string_view kName = "scale";
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

/// Returns the sum of `d`, the gradient of a value that `b` was repeated to, over the axes of the
/// repetition: of b's shape.
Value sum_to(Graph& graph, Value d, Shape b, const std::string& name);

}  // namespace linnet
