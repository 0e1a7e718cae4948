// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/batch_norm/batch_norm.h"

namespace linnet {

/// update_channels and the batch norm that reads what it writes: wide = x, but for the channels
/// from C - (the part's) on, which are the part's; then a BatchNormOp of wide's first C channels
/// (without a residual). Outputs: wide, which takes over x's memory, and those of the norm. Written
/// by a pass for backends that have it.
class BatchNormJoinedOp final : public OpBase<BatchNormJoinedOp, BatchNormAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm_joined";
  enum In : std::uint8_t { x, gamma, beta, running_mean, running_var, part };
  enum Out : std::uint8_t { wide, y, mean, inv_std };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  bool mutates(std::size_t input) const override {
    return input == In::running_mean || input == In::running_var;
  }
  std::vector<int> in_place() const override { return {In::x}; }
};

struct BatchNormGradJoinedAttrs {
  bool residual = false;  ///< as of the BatchNormGradOp
  Activation activation = Activation::none;
  bool from_input = false;
  bool summand = false;    ///< whether a further operand is added to dy
  bool into = false;       ///< whether dx is added to the first channels of a last, wider operand
  std::int64_t piece = 0;  ///< how many of dx's channels, the last ones, are also written apart
  template <class V>
  void fields(V&& visit) {
    visit("residual", residual);
    visit("activation", activation);
    visit("from_input", from_input);
    visit("summand", summand);
    visit("into", into);
    visit("piece", piece);
  }
  bool operator==(const BatchNormGradJoinedAttrs&) const = default;

  BatchNormGradAttrs norm() const {
    return {.residual = residual, .activation = activation, .from_input = from_input};
  }
  /// Returns the places of operands and results after those of the BatchNormGradOp.
  std::size_t summand_at() const { return activation == Activation::relu ? 6 : 5; }
  std::size_t into_at() const { return summand_at() + (summand ? 1 : 0); }
  std::size_t piece_at() const { return residual ? 4 : 3; }
};

/// A BatchNormGradOp with the additions before and after it: dy may be the sum of two operands, and
/// dx may be added to the first channels of a wider one, which output 0 takes over; of dx, or of
/// this sum, the last channels may be written apart as well, as a slice would. Written by a pass
/// for backends that have it.
class BatchNormGradJoinedOp final : public OpBase<BatchNormGradJoinedOp, BatchNormGradJoinedAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm_grad_joined";
  using In = BatchNormGradOp::In;
  using Out = BatchNormGradOp::Out;
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  std::vector<int> in_place() const override;
};

}  // namespace linnet
