// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "graph/graph.h"

namespace linnet {

struct BatchNormAttrs {
  double epsilon = 1e-5;
  double momentum = 0.1;  ///< weight of the batch in the running statistics, as in PyTorch
  template <class V>
  void fields(V&& visit) {
    visit("epsilon", epsilon);
    visit("momentum", momentum);
  }
  bool operator==(const BatchNormAttrs&) const = default;
};

/// y = (x - mean) * inv_std * gamma + beta with the batch's statistics over all axes but the last
/// (Ioffe and Szegedy, 2015). x f32 (..., C); gamma, beta, running_mean, running_var (C).
/// Outputs: y, and mean and inv_std = 1 / sqrt(variance + epsilon) (C) for the gradient.
/// Mutates the running statistics: r = (1 - momentum) r + momentum * batch, with the unbiased
/// variance (biased if there is one row alone); an empty batch leaves them.
class BatchNormOp final : public OpBase<BatchNormOp, BatchNormAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm";
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  bool mutates(std::size_t input) const override { return input >= 3; }
  std::shared_ptr<const Op> at_inference(std::shared_ptr<const Op> self) const override;
};

/// y = (x - running_mean) / sqrt(running_var + epsilon) * gamma + beta; operands as above.
class BatchNormInferenceOp final : public OpBase<BatchNormInferenceOp, BatchNormAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm_inference";
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// dx (..., C), dgamma (C), dbeta (C) from (dy, x, gamma, mean, inv_std).
class BatchNormGradOp final : public OpBase<BatchNormGradOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "batch_norm_grad";
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
