// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "graph/graph.h"

namespace linnet {

enum class Arithmetic : std::uint8_t { add, subtract, multiply, divide };
constexpr std::array<std::string_view, 4> enum_names(Arithmetic) {
  return {"add", "subtract", "multiply", "divide"};
}

struct ArithmeticAttrs {
  Arithmetic kind = Arithmetic::add;
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
  }
  bool operator==(const ArithmeticAttrs&) const = default;
};

/// y = a (op) b, element by element, f32. b has a's shape, or the shape of a's last axes and is
/// repeated along the others: a (N, H, W, C) goes with b (C), (W, C), (H, W, C) and (N, H, W, C).
class ArithmeticOp final : public OpBase<ArithmeticOp, ArithmeticAttrs> {
 public:
  static constexpr std::string_view kName = "arithmetic";
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {0}; }
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
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
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
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {0}; }
};

}  // namespace linnet
