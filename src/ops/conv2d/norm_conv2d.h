// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/activation/activation.h"
#include "ops/conv2d/conv2d.h"

namespace linnet {

struct NormConv2dAttrs {
  Conv2dAttrs conv;   ///< without bias and activation
  bool norm = false;  ///< whether x is normalised, for which three more operands follow
  Activation activation = Activation::none;  ///< after the norm: none or relu
  double epsilon = 1e-5;                     ///< of the norm
  bool sums = false;                         ///< whether y's sums are a second result
  /// Whether y, and its sums, become the channels from `begin` on of two further operands.
  bool into = false;
  std::int64_t begin = 0;
  template <class V>
  void fields(V&& visit) {
    conv.window_fields(visit);
    visit("norm", norm);
    visit("activation", activation);
    visit("epsilon", epsilon);
    visit("sums", sums);
    visit("into", into);
    visit("begin", begin);
  }
  bool operator==(const NormConv2dAttrs&) const = default;

  /// Returns the places of the operands of `into`.
  std::size_t whole_at() const { return norm ? 5 : 2; }
  std::size_t whole_sums_at() const { return whole_at() + 1; }
};

/// y = conv2d(f(batch norm of x), w), where the norm's statistics follow from sums (2, C) of x's
/// elements and of their squares by channel, and y's own sums (2, C_out) for the batch norm after
/// it: so a norm reads its image once less, or not at all. x (N, H, W, C), w (C_out, KH, KW,
/// C/groups), x_sums (2, C), gamma and beta (C); before a norm, x and x_sums may have more
/// channels, of which the first C count. `into`: whole (N, OH, OW, W), whose memory the result
/// takes over, and whole_sums (2, W), which is written. The sums are added in f32, and the variance
/// is the mean of squares less the squared mean, which loses digits where the mean is far from 0:
/// as cuDNN's epilogues do it. A pass writes it for backends that have it; no network holds it.
class NormConv2dOp final : public OpBase<NormConv2dOp, NormConv2dAttrs> {
 public:
  static constexpr std::string_view kName = "norm_conv2d";
  enum In : std::uint8_t { x, w, x_sums, gamma, beta };
  enum Out : std::uint8_t { y, sums };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  std::vector<int> in_place() const override {
    return attrs().into ? std::vector{static_cast<int>(attrs().whole_at())} : std::vector<int>{};
  }
  bool mutates(std::size_t input) const override {
    return attrs().into && input == attrs().whole_sums_at();
  }

 private:
  /// Returns what the convolution alone reads and writes: x as wide as it is read, w and y.
  std::vector<ValueType> conv_types(std::span<const ValueType> inputs) const;
};

struct NormConv2dGradInputAttrs {
  Conv2dGradInputAttrs conv;
  Activation activation = Activation::none;  ///< after the norm: none or relu
  double epsilon = 1e-5;                     ///< of the norm
  template <class V>
  void fields(V&& visit) {
    conv.fields(visit);
    visit("activation", activation);
    visit("epsilon", epsilon);
  }
  bool operator==(const NormConv2dGradInputAttrs&) const = default;
};

/// What the gradient of the norm before a convolution begins with: dy, the gradient by the norm's
/// result (before the ReLU, if one follows), and its sums (2, C) by channel: of dy, and of dy times
/// the normalised x. Operands of a Conv2dGradInputOp, then x, x_sums, gamma and beta as above.
class NormConv2dGradInputOp final : public OpBase<NormConv2dGradInputOp, NormConv2dGradInputAttrs> {
 public:
  static constexpr std::string_view kName = "norm_conv2d_grad_input";
  enum In : std::uint8_t { dz, w, x, x_sums, gamma, beta };
  enum Out : std::uint8_t { dy, sums };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

}  // namespace linnet
