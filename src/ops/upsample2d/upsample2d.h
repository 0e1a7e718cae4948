// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace linnet {

enum class Upsampling : std::uint8_t { nearest, bilinear };
constexpr std::array<std::string_view, 2> enum_names(Upsampling) { return {"nearest", "bilinear"}; }

struct Upsample2dAttrs {
  Upsampling mode = Upsampling::nearest;
  std::int64_t out_h = 1;
  std::int64_t out_w = 1;
  template <class V>
  void fields(V&& visit) {
    visit("mode", mode);
    visit("out_h", out_h);
    visit("out_w", out_w);
  }
  bool operator==(const Upsample2dAttrs&) const = default;
};

/// Images x (N, H, W, C) resampled to y (N, out_h, out_w, C), f32, as PyTorch's interpolate() of
/// that size does. Pixel i of y lies at (i + 1/2) H / out_h - 1/2 of x (half-pixel centres,
/// align_corners=False), taken for 0 below 0:
/// - nearest: the pixel floor(i H / out_h);
/// - bilinear: the mean of the two neighbours along each axis, weighted by nearness.
class Upsample2dOp final : public OpBase<Upsample2dOp, Upsample2dAttrs> {
 public:
  static constexpr std::string_view kName = "upsample2d";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
};

struct Upsample2dGradAttrs {
  Upsampling mode = Upsampling::nearest;
  std::int64_t in_h = 1;
  std::int64_t in_w = 1;
  template <class V>
  void fields(V&& visit) {
    visit("mode", mode);
    visit("in_h", in_h);
    visit("in_w", in_w);
  }
  bool operator==(const Upsample2dGradAttrs&) const = default;
};

/// dx (N, in_h, in_w, C) from dy: each pixel of x gets the sum, in their order, of the pixels of y
/// that read it, times its weight there.
class Upsample2dGradOp final : public OpBase<Upsample2dGradOp, Upsample2dGradAttrs> {
 public:
  static constexpr std::string_view kName = "upsample2d_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
