// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/batch_norm/batch_norm.h"

namespace linnet {

struct BatchNormStatisticsAttrs {
  BatchNormAttrs norm;     ///< without residual; the activation is not looked at
  std::int64_t known = 0;  ///< channels, the first ones, whose statistics are further operands
  template <class V>
  void fields(V&& visit) {
    norm.fields(visit);
    visit("known", known);
  }
  bool operator==(const BatchNormStatisticsAttrs&) const = default;
};

/// mean, inv_std and (biased) variance (C) of a BatchNormOp without its y, for operators that
/// normalise what they read. Operands as there (beta is not looked at) and, where it has `known`
/// channels, their mean and variance: a norm of a concatenation reads the channels alone that were
/// added since the norm before. It updates the running statistics of all channels. Written by a
/// pass for backends that have it.
class BatchNormStatisticsOp final : public OpBase<BatchNormStatisticsOp, BatchNormStatisticsAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm_statistics";
  enum In : std::uint8_t { x, gamma, beta, running_mean, running_var, known_mean, known_variance };
  enum Out : std::uint8_t { mean, inv_std, variance };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  bool mutates(std::size_t input) const override {
    return input == In::running_mean || input == In::running_var;
  }
};

}  // namespace linnet
