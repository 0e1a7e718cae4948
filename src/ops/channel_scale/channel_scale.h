// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct ChannelScaleAttrs {
  std::vector<double> scale = {1};
  std::vector<double> shift = {0};
  template <class V>
  void fields(V&& visit) {
    visit("scale", scale);
    visit("shift", shift);
  }
  bool operator==(const ChannelScaleAttrs&) const = default;
};

/// y[..., c] = scale[c] x[..., c] + shift[c] with constants for factors: how pixels are normalised.
/// Any rank from 1 on, f32. Throws Error unless both have one value for each of x's channels (its
/// last axis), and these are kMostChannels or fewer: kernels take them as arguments.
class ChannelScaleOp final : public OpBase<ChannelScaleOp, ChannelScaleAttrs> {
 public:
  static constexpr std::string_view kName = "channel_scale";
  static constexpr bool kInNetworks = true;
  static constexpr std::int64_t kMostChannels = 16;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::x}; }
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kKept;
  }
};

/// The attributes as a kernel keeps them.
struct ChannelFactors {
  explicit ChannelFactors(const ChannelScaleAttrs& attrs)
      : channels(static_cast<std::int64_t>(attrs.scale.size())) {
    for (std::size_t c = 0; c < attrs.scale.size(); ++c) {
      scale[c] = static_cast<float>(attrs.scale[c]);
      shift[c] = static_cast<float>(attrs.shift[c]);
    }
  }

  std::int64_t channels;
  float scale[ChannelScaleOp::kMostChannels] = {};  // NOLINT(*-avoid-c-arrays): a kernel's argument
  float shift[ChannelScaleOp::kMostChannels] = {};  // NOLINT(*-avoid-c-arrays)
};

}  // namespace linnet
