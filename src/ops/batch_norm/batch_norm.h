// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "ops/activation/activation.h"

namespace linnet {

struct BatchNormAttrs {
  double epsilon = 1e-5;
  double momentum = 0.1;  ///< weight of the batch in the running statistics, as in PyTorch
  bool residual = false;  ///< whether a last operand is added before the activation
  Activation activation = Activation::none;  ///< none or relu
  /// Whether statistics are of the whole batch (StepExchange::sum_statistics) instead of these rows
  /// alone. In no file.
  bool sync = false;
  template <class V>
  void fields(V&& visit) {
    visit("epsilon", epsilon);
    visit("momentum", momentum);
    visit("residual", residual);
    visit("activation", activation);
  }
  bool operator==(const BatchNormAttrs&) const = default;
};

/// y = f((x - mean) * inv_std * gamma + beta + residual) with the batch's statistics over all axes
/// but the last (Ioffe and Szegedy, 2015). x f32 (..., C), or wider: its first C channels count;
/// gamma, beta, running_mean, running_var (C); residual, if there is one, of y's shape. Sums are
/// accumulated in f32.
/// Outputs: y, and mean and inv_std = 1 / sqrt(variance + epsilon) (C) for the gradient.
/// Mutates the running statistics: r = (1 - momentum) r + momentum * batch, with the unbiased
/// variance (biased if there is one row alone); an empty batch leaves them.
/// Residual and activation are written by a pass that fuses what follows a plain batch norm.
class BatchNormOp final : public OpBase<BatchNormOp, BatchNormAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x, gamma, beta, running_mean, running_var, residual };
  enum Out : std::uint8_t { y, mean, inv_std };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  bool mutates(std::size_t input) const override {
    return input == In::running_mean || input == In::running_var;
  }
  std::vector<int> in_place() const override;
  std::shared_ptr<const Op> at_inference(std::shared_ptr<const Op> self) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kNormalized;
  }
};

struct BatchNormAgainAttrs {
  bool residual = false;  ///< whether a last operand is added before the activation
  Activation activation = Activation::none;  ///< none or relu
  template <class V>
  void fields(V&& visit) {
    visit("residual", residual);
    visit("activation", activation);
  }
  bool operator==(const BatchNormAgainAttrs&) const = default;
};

/// y of a BatchNormOp a second time, from the statistics that it has found: the same bits. x may be
/// wider.
class BatchNormAgainOp final : public OpBase<BatchNormAgainOp, BatchNormAgainAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm_again";
  enum In : std::uint8_t { x, gamma, beta, mean, inv_std, residual };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  std::vector<int> in_place() const override;
};

/// y = f((x - running_mean) / sqrt(running_var + epsilon) * gamma + beta + residual); operands as
/// above. Has gradients by x and the residual alone: in training it stands for a frozen batch norm.
class BatchNormInferenceOp final : public OpBase<BatchNormInferenceOp, BatchNormAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm_inference";
  using In = BatchNormOp::In;
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override;
};

struct BatchNormGradAttrs {
  bool residual = false;  ///< whether the residual's gradient is a last output (relu alone)
  Activation activation = Activation::none;  ///< none or relu
  bool from_input = false;  ///< whether the last operand is beta (C) instead of y (no residual)
  /// As the norm's: dx is by the sums of the whole batch, dgamma and dbeta are of these rows.
  bool sync = false;
  template <class V>
  void fields(V&& visit) {
    visit("residual", residual);
    visit("activation", activation);
    visit("from_input", from_input);
  }
  bool operator==(const BatchNormGradAttrs&) const = default;
};

/// dx (..., C), dgamma (C), dbeta (C) from (dy, x (may be wider), gamma, mean, inv_std), and after
/// a ReLU also from its result y: where y <= 0 dy counts as 0. The so masked dy is the residual's
/// gradient. Where y had no residual, its sign may also follow from x and beta, as y itself did.
class BatchNormGradOp final : public OpBase<BatchNormGradOp, BatchNormGradAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm_grad";
  enum In : std::uint8_t { dy, x, gamma, mean, inv_std, y, beta = y };
  enum Out : std::uint8_t { dx, dgamma, dbeta, dresidual };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  std::vector<int> in_place() const override;
};

}  // namespace linnet
