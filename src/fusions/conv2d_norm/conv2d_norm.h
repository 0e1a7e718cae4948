// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/batch_norm/batch_norm.h"
#include "ops/conv2d/conv2d.h"

namespace linnet {

struct Conv2dNormAttrs {
  Conv2dAttrs conv;     ///< without an activation
  BatchNormAttrs norm;  ///< its momentum is not looked at
  template <class V>
  void fields(V&& visit) {
    conv.fields(visit);
    norm.fields(
        [&](std::string_view name, auto& field) { visit("norm_" + std::string(name), field); });
  }
  bool operator==(const Conv2dNormAttrs&) const = default;
};

/// batch_norm_inference(conv2d(x, w, [b]), gamma, beta, running_mean, running_var, [residual]) in
/// one pass: the norm is folded into weights and bias. Operands are x, w, [b], then the norm's
/// without its x. For inference: it has no gradient.
class Conv2dNormOp final : public OpBase<Conv2dNormOp, Conv2dNormAttrs> {
 public:
  static constexpr std::string_view kName = "conv2d_norm";
  using In = Conv2dOp::In;
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  /// Counts the convolution's operands: x, w, [b]; the norm's follow.
  std::size_t conv_operands() const { return attrs().conv.bias ? In::b + 1 : In::w + 1; }
  /// Returns the place of an operand of the norm, other than its x.
  std::size_t norm_input(BatchNormInferenceOp::In of_norm) const {
    return conv_operands() + of_norm - BatchNormInferenceOp::In::gamma;
  }
};

}  // namespace linnet
