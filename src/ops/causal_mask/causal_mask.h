// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct CausalMaskAttrs {
  double fill =
      -1e30;  ///< finite, so that it survives in a file; its exponential is 0 all the same
  template <class V>
  void fields(V&& visit) {
    visit("fill", fill);
  }
  bool operator==(const CausalMaskAttrs&) const = default;
};

/// y[..., i, j] = x[..., i, j] where j <= i, `fill` elsewhere: scores of attention in which
/// position i sees nothing after itself. Rank 3 or more, f32. The gradient is the same with zeros.
class CausalMaskOp final : public OpBase<CausalMaskOp, CausalMaskAttrs> {
 public:
  static constexpr std::string_view kName = "causal_mask";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::x}; }
};

}  // namespace linnet
