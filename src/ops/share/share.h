// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "graph/step.h"

namespace linnet {

struct ShareAttrs {
  std::int64_t index = 0;  ///< below kShares
  template <class V>
  void fields(V&& visit) {
    visit("index", index);
  }
  bool operator==(const ShareAttrs&) const = default;
};

/// y = StepInfo::shares[index] * x, f32 of any shape: what a shard's loss counts in the whole
/// batch.
class ShareOp final : public OpBase<ShareOp, ShareAttrs> {
 public:
  static constexpr std::string_view kName = "share";
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::x}; }
};

}  // namespace linnet
