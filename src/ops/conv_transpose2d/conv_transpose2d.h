// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/conv2d/conv2d.h"

namespace linnet {

/// Computes a convolution's input gradient, as a layer of its own (Zeiler et al., 2010):
///   y[n, i stride_h - pad_top + k dilation_h, j stride_w - pad_left + l dilation_w, g C/groups +
///   c]
///     += x[n, i, j, o] * w[o, k, l, c],  g the group of o.
/// x (N, H, W, C_in), w (C_in, KH, KW, C/groups), y (N, in_h, in_w, C). The attributes are those of
/// the convolution that leads back from y to x. f32; kernels are conv2d's.
class ConvTranspose2dOp final : public OpBase<ConvTranspose2dOp, Conv2dGradInputAttrs> {
 public:
  static constexpr std::string_view kName = "conv_transpose2d";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x, w };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

}  // namespace linnet
