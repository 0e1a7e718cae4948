// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/batch_norm/batch_norm.h"

namespace linnet {

/// mean and inv_std of a BatchNormOp without its y, for operators that normalise what they read.
/// Operands as there (no residual; the activation and beta are not looked at); it updates the
/// running statistics, too. Written by a pass for backends that have it.
class BatchNormStatisticsOp final : public OpBase<BatchNormStatisticsOp, BatchNormAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm_statistics";
  using In = BatchNormOp::In;
  enum Out : std::uint8_t { mean, inv_std };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  bool mutates(std::size_t input) const override {
    return input == In::running_mean || input == In::running_var;
  }
};

}  // namespace linnet
