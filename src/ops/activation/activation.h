// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Element-wise nonlinearities. gelu is the exact form x * Phi(x) (Hendrycks and Gimpel, 2016), as
/// PyTorch's default.
enum class Activation : std::uint8_t { none, relu, tanh, sigmoid, gelu };
constexpr std::array<std::string_view, 5> enum_names(Activation) {
  return {"none", "relu", "tanh", "sigmoid", "gelu"};
}

/// f(x) and, from x alone, f'(x); in double, for references.
double activate(Activation kind, double x);
double activation_slope(Activation kind, double x);
/// f'(x) from y = f(x), for all kinds but gelu.
double activation_slope_from_output(Activation kind, double y);
/// Returns whether the slope follows from the output, so that the input need not be kept.
constexpr bool slope_from_output(Activation kind) { return kind != Activation::gelu; }

struct ActivationAttrs {
  Activation kind = Activation::relu;
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
  }
  bool operator==(const ActivationAttrs&) const = default;
};

/// y = f(x), any shape, f32.
class ActivationOp final : public OpBase<ActivationOp, ActivationAttrs> {
 public:
  static constexpr std::string_view kName = "activation";
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

/// dx = dy * f'(·) from (dy, y), or from (dy, x) for gelu. Any shape, f32.
class ActivationGradOp final : public OpBase<ActivationGradOp, ActivationAttrs> {
 public:
  static constexpr std::string_view kName = "activation_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy, saved };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::dy, In::saved}; }
};

/// Returns the gradient by an activation's input where `y` = f(·) (for kinds whose slope follows
/// from the output; Activation::none returns dy).
Value activation_gradient_from_output(Graph& graph, Activation kind, Value dy, Value y,
                                      const std::string& name);

}  // namespace linnet
