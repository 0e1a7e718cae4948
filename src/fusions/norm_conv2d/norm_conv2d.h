// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/batch_norm/batch_norm.h"
#include "ops/conv2d/conv2d.h"

namespace linnet {

struct NormConv2dAttrs {
  Activation activation = Activation::none;  ///< after the norm: none or relu
  template <class V>
  void fields(V&& visit) {
    visit("activation", activation);
  }
  bool operator==(const NormConv2dAttrs&) const = default;

  BatchNormAgainAttrs norm() const { return {.activation = activation}; }
};

/// y = conv2d(f((x - mean) * inv_std * gamma + beta), w): a batch norm, whose statistics were found
/// before, and the 1x1 convolution that alone reads it, so that it is not written. x (N, H, W, C),
/// or wider: its first C channels count; w (C_out, 1, 1, C), stride 1; gamma, beta, mean, inv_std
/// (C). f32, at no other precision. Written by a pass for backends that have it.
class NormConv2dOp final : public OpBase<NormConv2dOp, NormConv2dAttrs> {
 public:
  static constexpr std::string_view kName = "norm_conv2d";
  enum In : std::uint8_t { x, w, gamma, beta, mean, inv_std };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

/// dw (C_out, 1, 1, C) of it: x and the norm's operands as there, dz (N, H, W, C_out).
class NormConv2dGradWeightOp final : public OpBase<NormConv2dGradWeightOp, NormConv2dAttrs> {
 public:
  static constexpr std::string_view kName = "norm_conv2d_grad_weight";
  enum In : std::uint8_t { x, dz, gamma, beta, mean, inv_std };
  enum Out : std::uint8_t { dw };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

}  // namespace linnet
