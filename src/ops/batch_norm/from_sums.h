// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/batch_norm/batch_norm.h"

namespace linnet {

/// A batch norm's statistics as they follow from the sums (2, C) of a channel's elements and of
/// their squares, which the convolution before it left (NormConv2dOp).
struct ChannelMoments {
  double mean = 0;
  double variance = 0;
  ChannelMoments(const ReferenceTensor& sums, std::int64_t channel, double rows);
};

/// A BatchNormOp whose statistics follow from one operand more, the last: sums (2, C) of x as
/// above. x is not wider.
class BatchNormFromSumsOp final : public OpBase<BatchNormFromSumsOp, BatchNormAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm_from_sums";
  using In = BatchNormOp::In;
  using Out = BatchNormOp::Out;
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  bool mutates(std::size_t input) const override {
    return input == In::running_mean || input == In::running_var;
  }
  /// x and the residual are read once.
  std::vector<int> in_place() const override {
    return attrs().residual ? std::vector<int>{In::residual} : std::vector<int>{};
  }
};

struct BatchNormGradFromSumsAttrs {
  double epsilon = 1e-5;
  Activation activation = Activation::none;  ///< none or relu
  template <class V>
  void fields(V&& visit) {
    visit("epsilon", epsilon);
    visit("activation", activation);
  }
  bool operator==(const BatchNormGradFromSumsAttrs&) const = default;
};

/// A batch norm, without a residual, and its gradient in one: y, which the convolution after the
/// norm computed for itself alone, is written for this convolution's weight gradient; and dx,
/// dgamma, dbeta as of a BatchNormGradOp. dy, x and y (..., C); gamma, beta, running_mean,
/// running_var (C); sums (2, C) of x as above. Writes the batch's statistics to the running ones,
/// as a BatchNormOp of momentum 1.
class BatchNormGradFromSumsOp final
    : public OpBase<BatchNormGradFromSumsOp, BatchNormGradFromSumsAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm_grad_from_sums";
  enum In : std::uint8_t { dy, x, gamma, beta, running_mean, running_var, sums };
  enum Out : std::uint8_t { dx, dgamma, dbeta, y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  bool mutates(std::size_t input) const override {
    return input == In::running_mean || input == In::running_var;
  }
  std::vector<int> in_place() const override { return {In::dy, In::x}; }
};

}  // namespace linnet
