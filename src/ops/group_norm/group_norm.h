// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct GroupNormAttrs {
  double epsilon = 1e-5;
  std::int64_t rows = 1;      ///< how many first axes count the rows; the batch's is one of them
  std::int64_t channels = 1;  ///< how many last axes weight and bias span
  std::int64_t groups = 1;    ///< equal parts of the channels with statistics of their own
  /// All but epsilon: what the gradient needs too.
  template <class V>
  void layout_fields(V&& visit) {
    visit("rows", rows);
    visit("channels", channels);
    visit("groups", groups);
  }
  template <class V>
  void fields(V&& visit) {
    visit("epsilon", epsilon);
    layout_fields(visit);
  }
  bool operator==(const GroupNormAttrs&) const = default;
};

/// Dims as kernels see them: x is (rows, pixels, channels).
struct GroupNormShape {
  std::int64_t rows = 0;
  std::int64_t pixels = 1;  ///< the axes between rows and channels
  std::int64_t channels = 1;
  std::int64_t groups = 1;

  std::int64_t group_channels() const { return channels / groups; }
  /// Returns elements that share a mean.
  std::int64_t count() const { return pixels * group_channels(); }
};

/// Throws Error where the attributes don't fit x.
GroupNormShape group_norm_shape(const GroupNormAttrs& attrs, const Shape& x);

/// y = (x - mean) * inv_std * weight + bias, with the statistics of each row and group alone, over
/// its pixels and channels; inv_std = 1 / sqrt(variance + epsilon), the variance is the biased one.
/// x (rows..., pixels..., channels...); weight, bias (channels...). f32; accumulated in f32.
/// - group norm (Wu and He, 2018): x (N, H, W, C), one axis of rows, one of channels;
/// - layer norm (Ba et al., 2016): no pixels, one group.
/// Outputs: y, and mean and inv_std (rows..., groups) for the gradient.
class GroupNormOp final : public OpBase<GroupNormOp, GroupNormAttrs> {
 public:
  static constexpr std::string_view kName = "group_norm";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x, weight, bias };
  enum Out : std::uint8_t { y, mean, inv_std };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  std::vector<int> in_place() const override { return {In::x}; }
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kept_if(attrs().rows >= 2, steps::kNormalized);
  }
};

struct GroupNormGradAttrs {
  GroupNormAttrs norm;  ///< epsilon is not looked at
  template <class V>
  void fields(V&& visit) {
    norm.layout_fields(visit);
  }
  bool operator==(const GroupNormGradAttrs&) const = default;
};

/// dx, dweight, dbias from (dy, x, weight, mean, inv_std).
class GroupNormGradOp final : public OpBase<GroupNormGradOp, GroupNormGradAttrs> {
 public:
  static constexpr std::string_view kName = "group_norm_grad";
  enum In : std::uint8_t { dy, x, weight, mean, inv_std };
  enum Out : std::uint8_t { dx, dweight, dbias };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  std::vector<int> in_place() const override { return {In::dy, In::x}; }
};

}  // namespace linnet
