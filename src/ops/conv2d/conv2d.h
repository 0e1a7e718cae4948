// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/activation/activation.h"

namespace linnet {

struct Conv2dAttrs {
  std::int64_t stride_h = 1;
  std::int64_t stride_w = 1;
  std::int64_t dilation_h = 1;
  std::int64_t dilation_w = 1;
  std::int64_t groups = 1;
  std::int64_t pad_top = 0;
  std::int64_t pad_bottom = 0;
  std::int64_t pad_left = 0;
  std::int64_t pad_right = 0;
  bool bias = false;  ///< whether a third operand b (C_out) is added
  Activation activation = Activation::none;

  /// All but bias and activation: what the gradients need too.
  template <class V>
  void window_fields(V&& visit) {
    visit("stride_h", stride_h);
    visit("stride_w", stride_w);
    visit("dilation_h", dilation_h);
    visit("dilation_w", dilation_w);
    visit("groups", groups);
    visit("pad_top", pad_top);
    visit("pad_bottom", pad_bottom);
    visit("pad_left", pad_left);
    visit("pad_right", pad_right);
  }
  template <class V>
  void fields(V&& visit) {
    window_fields(visit);
    visit("bias", bias);
    visit("activation", activation);
  }
  bool operator==(const Conv2dAttrs&) const = default;

  /// Returns the same windows without bias and activation.
  Conv2dAttrs plain() const;
};

/// A convolution's dimensions, all that a kernel asks for.
struct ConvShape {
  std::int64_t n = 0;
  std::int64_t h = 0;  ///< input
  std::int64_t w = 0;
  std::int64_t c = 0;
  std::int64_t oh = 0;  ///< output
  std::int64_t ow = 0;
  std::int64_t co = 0;
  std::int64_t kh = 0;  ///< kernel
  std::int64_t kw = 0;
  Conv2dAttrs attrs;

  std::int64_t group_in() const { return c / attrs.groups; }
  std::int64_t group_out() const { return co / attrs.groups; }
  /// Products that one output element sums.
  std::int64_t taps() const { return kh * kw * group_in(); }
  std::int64_t in_pixels() const { return h * w; }
  std::int64_t out_pixels() const { return oh * ow; }
  std::int64_t weights() const { return co * taps(); }
  double flops_per_sample() const {
    return 2.0 * static_cast<double>(out_pixels()) * static_cast<double>(weights());
  }
};

/// Throws Error where input x (N, H, W, C) and weights w (C_out, KH, KW, C/groups) don't fit;
/// `operands` ends the message: "x=(128, 32, 32, 1), w=(64, 7, 7, 3)".
ConvShape conv_shape(const Conv2dAttrs& attrs, const Shape& x, const Shape& w,
                     const std::string& operands);

/// y = f(x * w + b), a cross-correlation as in every framework:
///   y[n, i, j, o] = f(b[o] + sum over (k, l, c) of
///                     x[n, i stride_h - pad_top + k dilation_h, j stride_w - pad_left + l
///                     dilation_w,
///                       g C/groups + c] * w[o, k, l, c]),  g the group of o; x is zero outside.
/// x (N, H, W, C), w (C_out, KH, KW, C/groups), b (C_out), y (N, OH, OW, C_out). f32.
/// Bias and activation are written by passes that fuse what follows a plain convolution.
class Conv2dOp final : public OpBase<Conv2dOp, Conv2dAttrs> {
 public:
  static constexpr std::string_view kName = "conv2d";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x, w, b };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

struct Conv2dGradInputAttrs {
  Conv2dAttrs conv;  ///< bias and activation are not looked at
  std::int64_t in_h = 1;
  std::int64_t in_w = 1;
  template <class V>
  void fields(V&& visit) {
    conv.window_fields(visit);
    visit("in_h", in_h);
    visit("in_w", in_w);
  }
  bool operator==(const Conv2dGradInputAttrs&) const = default;
};

/// dx of a convolution of x (N, in_h, in_w, C): dz (N, OH, OW, C_out), w (C_out, KH, KW, C/groups).
class Conv2dGradInputOp final : public OpBase<Conv2dGradInputOp, Conv2dGradInputAttrs> {
 public:
  static constexpr std::string_view kName = "conv2d_grad_input";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dz, w };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  /// Returns the convolution's dimensions from the types of dz and w.
  ConvShape shape(const Shape& dz, const Shape& w) const;
};

struct Conv2dGradWeightAttrs {
  Conv2dAttrs conv;  ///< bias and activation are not looked at
  std::int64_t kernel_h = 1;
  std::int64_t kernel_w = 1;
  template <class V>
  void fields(V&& visit) {
    conv.window_fields(visit);
    visit("kernel_h", kernel_h);
    visit("kernel_w", kernel_w);
  }
  bool operator==(const Conv2dGradWeightAttrs&) const = default;
};

/// dw (C_out, kernel_h, kernel_w, C/groups) of a convolution: x (N, H, W, C), dz (N, OH, OW,
/// C_out).
class Conv2dGradWeightOp final : public OpBase<Conv2dGradWeightOp, Conv2dGradWeightAttrs> {
 public:
  static constexpr std::string_view kName = "conv2d_grad_weight";
  enum In : std::uint8_t { x, dz };
  enum Out : std::uint8_t { dw };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  /// Returns the convolution's dimensions from the types of x and dz.
  ConvShape shape(const Shape& x, const Shape& dz) const;
};

}  // namespace linnet
