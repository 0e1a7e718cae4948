// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Windows over images: of (size_h, size_w) pixels, (stride_h, stride_w) apart. Every window holds
/// a pixel: padding is smaller than the window.
struct Pool2dAttrs {
  std::int64_t size_h = 2;
  std::int64_t size_w = 2;
  std::int64_t stride_h = 2;
  std::int64_t stride_w = 2;
  std::int64_t pad_top = 0;
  std::int64_t pad_bottom = 0;
  std::int64_t pad_left = 0;
  std::int64_t pad_right = 0;
  template <class V>
  void fields(V&& visit) {
    visit("size_h", size_h);
    visit("size_w", size_w);
    visit("stride_h", stride_h);
    visit("stride_w", stride_w);
    visit("pad_top", pad_top);
    visit("pad_bottom", pad_bottom);
    visit("pad_left", pad_left);
    visit("pad_right", pad_right);
  }
  bool operator==(const Pool2dAttrs&) const = default;
};

/// All dimensions of a pooling.
struct PoolShape {
  std::int64_t n = 0;
  std::int64_t h = 0;  ///< input
  std::int64_t w = 0;
  std::int64_t c = 0;
  std::int64_t oh = 0;  ///< output
  std::int64_t ow = 0;
  Pool2dAttrs attrs;

  std::int64_t in_pixels() const { return h * w; }
  std::int64_t out_pixels() const { return oh * ow; }
  /// No pixel belongs to two windows.
  bool disjoint() const { return attrs.stride_h >= attrs.size_h && attrs.stride_w >= attrs.size_w; }
};

/// Throws Error where windows don't fit images x (N, H, W, C).
PoolShape pool_shape(const Pool2dAttrs& attrs, const Shape& x);

/// Returns the type of a position in a window: u8 where it holds it.
constexpr DType winner_type(const Pool2dAttrs& attrs) {
  return attrs.size_h * attrs.size_w <= 256 ? DType::u8 : DType::i32;
}

/// y (N, OH, OW, C): the largest pixel of each window; padding never wins, NaN always does. x f32.
/// The second output, `winner` (winner_type, y's shape), is k * size_w + l of the pixel that won,
/// the first of equal ones: the gradient needs nothing else.
class MaxPool2dOp final : public OpBase<MaxPool2dOp, Pool2dAttrs> {
 public:
  static constexpr std::string_view kName = "max_pool2d";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y, winner };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// y (N, OH, OW, C): the mean of each window, in which padding counts as zeros (PyTorch's default).
class AvgPool2dOp final : public OpBase<AvgPool2dOp, Pool2dAttrs> {
 public:
  static constexpr std::string_view kName = "avg_pool2d";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

struct Pool2dGradAttrs {
  Pool2dAttrs pool;
  std::int64_t in_h = 1;
  std::int64_t in_w = 1;
  template <class V>
  void fields(V&& visit) {
    pool.fields(visit);
    visit("in_h", in_h);
    visit("in_w", in_w);
  }
  bool operator==(const Pool2dGradAttrs&) const = default;
};

/// dx (N, in_h, in_w, C) from (dy, winner): every winner gets its window's gradient.
class MaxPool2dGradOp final : public OpBase<MaxPool2dGradOp, Pool2dGradAttrs> {
 public:
  static constexpr std::string_view kName = "max_pool2d_grad";
  enum In : std::uint8_t { dy, winner };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// dx (N, in_h, in_w, C) from dy: every pixel of a window gets an equal part of its gradient.
class AvgPool2dGradOp final : public OpBase<AvgPool2dGradOp, Pool2dGradAttrs> {
 public:
  static constexpr std::string_view kName = "avg_pool2d_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

/// Returns the dimensions of a gradient operator from its dy.
PoolShape pool_shape(const Pool2dGradAttrs& attrs, const Shape& dy);

}  // namespace linnet
