// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/activation/activation.h"

namespace linnet {

struct DenseAttrs {
  bool bias = false;  ///< whether a third operand b (units) is added
  Activation activation = Activation::none;
  template <class V>
  void fields(V&& visit) {
    visit("bias", bias);
    visit("activation", activation);
  }
  bool operator==(const DenseAttrs&) const = default;
};

/// y = f(x wᵀ + b): x (N, features), w (units, features), b (units), y (N, units). f32.
/// Bias and activation are written by passes that fuse what follows a plain product.
class DenseOp final : public OpBase<DenseOp, DenseAttrs> {
 public:
  static constexpr std::string_view kName = "dense";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x, w, b };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

/// dx = dz w: dz (N, units), w (units, features), dx (N, features).
class DenseGradInputOp final : public OpBase<DenseGradInputOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "dense_grad_input";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dz, w };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

/// dw = dzᵀ x: dz (N, units), x (N, features), dw (units, features).
class DenseGradWeightOp final : public OpBase<DenseGradWeightOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "dense_grad_weight";
  enum In : std::uint8_t { dz, x };
  enum Out : std::uint8_t { dw };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

}  // namespace linnet
