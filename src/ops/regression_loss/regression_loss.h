// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Mean squared and mean absolute error.
enum class RegressionLoss : std::uint8_t { mse, mae };
constexpr std::array<std::string_view, 2> enum_names(RegressionLoss) { return {"mse", "mae"}; }

struct RegressionLossAttrs {
  RegressionLoss kind = RegressionLoss::mse;
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
  }
  bool operator==(const RegressionLossAttrs&) const = default;
};

/// The mean over all elements of (y - t)^2 or |y - t|: y and t f32 of one shape; a scalar f32,
/// summed in f64. 0 for an empty batch.
class RegressionLossOp final : public OpBase<RegressionLossOp, RegressionLossAttrs> {
 public:
  static constexpr std::string_view kName = "regression_loss";
  enum In : std::uint8_t { y, target };
  enum Out : std::uint8_t { loss };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// dy from (y, t, dloss); |0| has slope 0.
class RegressionLossGradOp final : public OpBase<RegressionLossGradOp, RegressionLossAttrs> {
 public:
  static constexpr std::string_view kName = "regression_loss_grad";
  enum In : std::uint8_t { y, target, dloss };
  enum Out : std::uint8_t { dy };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::y}; }
};

}  // namespace linnet
