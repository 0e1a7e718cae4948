// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/batch_norm/joined.h"

namespace linnet {

/// A batch norm's statistics as they follow from the sums (2, C) of a channel's elements and of
/// their squares, which the convolution before it left (NormConv2dOp).
struct ChannelMoments {
  double mean = 0;
  double variance = 0;
  ChannelMoments(const ReferenceTensor& sums, std::int64_t channel, double rows);
};

/// Returns whether a type is that of such sums of C channels, or of more, of which the first count.
bool are_sums(const ValueType& type, std::int64_t channels);

struct WidenAttrs {
  std::int64_t channels = 0;  ///< of the result
  template <class V>
  void fields(V&& visit) {
    visit("channels", channels);
  }
  bool operator==(const WidenAttrs&) const = default;
};

/// The begin of a block of concatenations that share memory: x (..., C) followed by zeros, as wide
/// as the attributes say, and the sums of this, (2, channels). NormConv2dOp fills in the rest.
class WidenWithSumsOp final : public OpBase<WidenWithSumsOp, WidenAttrs> {
 public:
  static constexpr std::string_view kName = "widen_with_sums";
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { wide, sums };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

/// A BatchNormOp whose statistics follow from one operand more, the last: sums (2, C) of x as
/// above; x and the sums may be wider.
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
  bool summed = false;     ///< whether dy's sums are an operand, and its ReLU's gradient is in it
  bool into = false;       ///< as of a BatchNormGradJoinedOp
  std::int64_t piece = 0;  ///< likewise
  template <class V>
  void fields(V&& visit) {
    visit("epsilon", epsilon);
    visit("activation", activation);
    visit("summed", summed);
    visit("into", into);
    visit("piece", piece);
  }
  bool operator==(const BatchNormGradFromSumsAttrs&) const = default;

  std::size_t whole_at() const { return summed ? 8 : 7; }  ///< the operand of `into`

  BatchNormGradJoinedAttrs joined() const {
    return {.activation = activation, .into = into, .piece = piece};
  }
};

/// A batch norm, without a residual, and its gradient in one: y, which the convolution after the
/// norm computed for itself alone, is written for this convolution's weight gradient; and dx,
/// dgamma, dbeta as of a BatchNormGradOp. dy, x and y (..., C); gamma, beta, running_mean,
/// running_var (C); sums (2, C) of x as above, x and sums may be wider. Writes the batch's
/// statistics to the running ones, as a BatchNormOp of momentum 1. dy and its sums may be those of
/// a NormConv2dGradInputOp. What dx is added to is a further operand, and its last channels are a
/// further result, as of a BatchNormGradJoinedOp.
class BatchNormGradFromSumsOp final
    : public OpBase<BatchNormGradFromSumsOp, BatchNormGradFromSumsAttrs> {
 public:
  static constexpr std::string_view kName = "batch_norm_grad_from_sums";
  enum In : std::uint8_t { dy, x, gamma, beta, running_mean, running_var, sums, dy_sums };
  enum Out : std::uint8_t { dx, dgamma, dbeta, y, piece };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  bool mutates(std::size_t input) const override {
    return input == In::running_mean || input == In::running_var;
  }
  std::vector<int> in_place() const override {
    return attrs().into ? std::vector{static_cast<int>(attrs().whole_at())}
                        : std::vector<int>{In::dy, In::x};
  }
};

}  // namespace linnet
