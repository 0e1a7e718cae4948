// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Bins along an image's axes: windows as a pooling's, cut at the image's edge, or, where size is
/// 0, out_h by out_w bins that cover the image as PyTorch's adaptive average pool: from floor(i in
/// / out) to ceil((i + 1) in / out).
struct BinMean2dAttrs {
  std::int64_t out_h = 1;
  std::int64_t out_w = 1;
  std::int64_t size_h = 0;
  std::int64_t size_w = 0;
  std::int64_t stride_h = 1;
  std::int64_t stride_w = 1;
  std::int64_t pad_top = 0;
  std::int64_t pad_left = 0;
  template <class V>
  void fields(V&& visit) {
    visit("out_h", out_h);
    visit("out_w", out_w);
    visit("size_h", size_h);
    visit("size_w", size_w);
    visit("stride_h", stride_h);
    visit("stride_w", stride_w);
    visit("pad_top", pad_top);
    visit("pad_left", pad_left);
  }
  bool operator==(const BinMean2dAttrs&) const = default;
};

/// y (N, out_h, out_w, C): the mean of the pixels of each bin; no bin is empty. x (N, H, W, C),
/// f32.
class BinMean2dOp final : public OpBase<BinMean2dOp, BinMean2dAttrs> {
 public:
  static constexpr std::string_view kName = "bin_mean2d";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

struct BinMean2dGradAttrs {
  BinMean2dAttrs bins;
  std::int64_t in_h = 1;
  std::int64_t in_w = 1;
  template <class V>
  void fields(V&& visit) {
    bins.fields(visit);
    visit("in_h", in_h);
    visit("in_w", in_w);
  }
  bool operator==(const BinMean2dGradAttrs&) const = default;
};

/// dx (N, in_h, in_w, C) from dy: every pixel of a bin gets an equal part of its gradient.
class BinMean2dGradOp final : public OpBase<BinMean2dGradOp, BinMean2dGradAttrs> {
 public:
  static constexpr std::string_view kName = "bin_mean2d_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
