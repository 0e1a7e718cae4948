// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/conv2d/conv2d.h"
#include "ops/pool2d/pool2d.h"

namespace linnet {

struct Conv2dPoolAttrs {
  Conv2dAttrs conv;
  Pool2dAttrs pool;
  template <class V>
  void fields(V&& visit) {
    conv.fields(visit);
    pool.fields(
        [&](std::string_view name, auto& field) { visit("pool_" + std::string(name), field); });
  }
  /// Returns whether kernels take it: no stride, dilation or group, a 2x2 maximum, a ReLU at most.
  bool is_plain() const {
    return conv.stride_h == 1 && conv.stride_w == 1 && conv.dilation_h == 1 &&
           conv.dilation_w == 1 && conv.groups == 1 && pool == Pool2dAttrs{} &&
           (conv.activation == Activation::none || conv.activation == Activation::relu);
  }
  bool operator==(const Conv2dPoolAttrs&) const = default;
};

/// max_pool2d(conv2d(x, w, [b])) in one pass: the convolution's result is never stored. Operands
/// are conv2d's, results max_pool2d's: y (N, PH, PW, C_out) and the winners.
class Conv2dPoolOp final : public OpBase<Conv2dPoolOp, Conv2dPoolAttrs> {
 public:
  static constexpr std::string_view kName = "conv2d_pool";
  using In = Conv2dOp::In;
  enum Out : std::uint8_t { y, winner };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  /// By (w, b) alone in one operator, which is what a network's first layer needs; by x as well
  /// through the gradients of its parts, which the pass `fuse_pool_grads` fuses.
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

struct Conv2dPoolGradAttrs {
  Conv2dPoolAttrs forward;
  std::int64_t kernel_h = 1;
  std::int64_t kernel_w = 1;
  template <class V>
  void fields(V&& visit) {
    forward.fields(visit);
    visit("kernel_h", kernel_h);
    visit("kernel_w", kernel_w);
  }
  bool operator==(const Conv2dPoolGradAttrs&) const = default;
};

/// dw (C_out, kernel_h, kernel_w, C) and db (C_out) from (x, dy, y, winner). No groups.
class Conv2dPoolGradOp final : public OpBase<Conv2dPoolGradOp, Conv2dPoolGradAttrs> {
 public:
  static constexpr std::string_view kName = "conv2d_pool_grad";
  enum In : std::uint8_t { x, dy, y, winner };
  enum Out : std::uint8_t { dw, db };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  /// Returns the convolution's dimensions from those of x and dy.
  ConvShape shape(const Shape& x, const Shape& dy) const;
};

struct Conv2dPoolGradInputAttrs {
  Conv2dPoolAttrs forward;
  std::int64_t in_h = 1;
  std::int64_t in_w = 1;
  template <class V>
  void fields(V&& visit) {
    forward.fields(visit);
    visit("in_h", in_h);
    visit("in_w", in_w);
  }
  bool operator==(const Conv2dPoolGradInputAttrs&) const = default;
};

/// dx (N, in_h, in_w, C) from (dy, y, winner) and w (C_out, KH, KW, C). No groups.
class Conv2dPoolGradInputOp final : public OpBase<Conv2dPoolGradInputOp, Conv2dPoolGradInputAttrs> {
 public:
  static constexpr std::string_view kName = "conv2d_pool_grad_input";
  enum In : std::uint8_t { dy, y, winner, w };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  /// Returns the convolution's dimensions from those of dy and w.
  ConvShape shape(const Shape& dy, const Shape& w) const;
};

}  // namespace linnet
