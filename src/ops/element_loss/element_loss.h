// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Says what is added up over the elements of y and of targets t:
enum class ElementLoss : std::uint8_t {
  squared_error,   ///< (y - t)^2
  absolute_error,  ///< |y - t|
  /// -t log(sigmoid(y)) - (1 - t) log(1 - sigmoid(y)), y logits and t in [0, 1], in the form
  /// max(y, 0) - y t + log(1 + exp(-|y|)) that never overflows
  binary_cross_entropy,
  huber,          ///< d = y - t: d^2 / 2 for |d| <= parameter, parameter (|d| - parameter / 2) else
  hinge,          ///< max(0, 1 - y t)
  cross_entropy,  ///< -t y, y log-probabilities
  kl_divergence,  ///< t (log t - y), y log-probabilities; 0 where t <= 0
  focal,          ///< -t (1 - exp(y))^parameter y, y log-probabilities
  log_sigmoid,    ///< -t log(sigmoid(y)) sigmoid(-y)^parameter
  absolute,       ///< |y|; no targets
  square,         ///< y^2; no targets
};
constexpr std::array<std::string_view, 11> enum_names(ElementLoss) {
  return {"squared_error", "absolute_error", "binary_cross_entropy",
          "huber",         "hinge",          "cross_entropy",
          "kl_divergence", "focal",          "log_sigmoid",
          "absolute",      "square"};
}

/// Says what the sum is divided by: the elements, those of all but the last axis, or nothing.
enum class LossMean : std::uint8_t { elements, rows, none };
constexpr std::array<std::string_view, 3> enum_names(LossMean) {
  return {"elements", "rows", "none"};
}

struct ElementLossAttrs {
  ElementLoss kind = ElementLoss::squared_error;
  double parameter = 1;
  LossMean mean = LossMean::elements;
  double scale = 1;  ///< times the sum
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
    visit("parameter", parameter);
    visit("mean", mean);
    visit("scale", scale);
  }
  bool operator==(const ElementLossAttrs&) const = default;
};

constexpr bool has_targets(ElementLoss kind) {
  return kind != ElementLoss::absolute && kind != ElementLoss::square;
}

/// scale / divisor of the sum.
double loss_factor(const ElementLossAttrs& attrs, const Shape& shape);

/// A sum or mean over elements: y and t f32 of one shape; a scalar f32, summed in f64. 0 for an
/// empty batch. Where t is 0, `cross_entropy` and `focal` are 0 for every y.
class ElementLossOp final : public OpBase<ElementLossOp, ElementLossAttrs> {
 public:
  static constexpr std::string_view kName = "element_loss";
  enum In : std::uint8_t { y, target };
  enum Out : std::uint8_t { loss };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  /// By y alone: targets are data.
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// dy from (dloss, y, t) or (dloss, y); 0 at a kink.
class ElementLossGradOp final : public OpBase<ElementLossGradOp, ElementLossAttrs> {
 public:
  static constexpr std::string_view kName = "element_loss_grad";
  enum In : std::uint8_t { dloss, y, target };
  enum Out : std::uint8_t { dy };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::y}; }
};

}  // namespace linnet
