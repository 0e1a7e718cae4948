// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/conv2d/conv2d.h"
#include "ops/quantize/quantize.h"

namespace linnet {

struct Conv2dInt8Attrs {
  Conv2dAttrs conv;          ///< without groups and dilation; its activation follows the residual
  LevelsAttrs x = {};        ///< of the images
  bool norm = false;         ///< whether gamma, beta, running_mean and running_var follow (C_out)
  double epsilon = 0;        ///< the norm's
  bool residual = false;     ///< whether a last operand is added before the activation
  bool residual_u8 = false;  ///< whether that is u8, of `residual_levels`
  LevelsAttrs residual_levels = {};
  bool to_levels = false;  ///< whether the result is rounded to `y`
  LevelsAttrs y = {};
  template <class V>
  void fields(V&& visit) {
    const auto levels = [&](std::string_view prefix, LevelsAttrs& of) {
      of.fields([&](std::string_view name, auto& field) {
        visit(std::string(prefix) + std::string(name), field);
      });
    };
    conv.fields(visit);
    levels("x_", x);
    visit("norm", norm);
    visit("epsilon", epsilon);
    visit("residual", residual);
    visit("residual_u8", residual_u8);
    levels("residual_", residual_levels);
    visit("to_levels", to_levels);
    levels("y_", y);
  }
  bool operator==(const Conv2dInt8Attrs&) const = default;
};

/// A convolution, or a dense layer, of 8-bit levels by weights that are rounded to 8 bits
/// (quantize_weights), with what follows it at inference:
///   y = f(norm(quantized x * quantized w + b) + residual), f32, or u8 levels of it.
/// x u8 (N, H, W, C), w f32 (C_out, KH, KW, C); or x (N, features), w (units, features). Sums are
/// exact; what follows them is computed in f32. Has no gradient.
class Conv2dInt8Op final : public OpBase<Conv2dInt8Op, Conv2dInt8Attrs> {
 public:
  static constexpr std::string_view kName = "conv2d_int8";
  enum In : std::uint8_t { x, w, b };
  enum Norm : std::uint8_t { gamma, beta, running_mean, running_var, kNormOperands };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;

  /// Returns whether the activation is part of what rounds a result to levels.
  bool rounds_activation() const {
    return attrs().conv.activation == Activation::none ||
           attrs().conv.activation == Activation::relu;
  }
  /// Returns the place of an operand of the norm; of kNormOperands: where the residual is.
  std::size_t norm_input(Norm operand) const {
    return (attrs().conv.bias ? In::b + 1 : In::w + 1) + operand;
  }
  std::size_t residual_input() const { return norm_input(attrs().norm ? kNormOperands : gamma); }
  std::size_t operands() const { return residual_input() + (attrs().residual ? 1 : 0); }
  /// Returns the dimensions; a dense layer's are those of images of one pixel.
  ConvShape shape(const Shape& x, const Shape& w) const;
};

}  // namespace linnet
