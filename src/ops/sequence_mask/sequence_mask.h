// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "graph/graph.h"

namespace linnet {

/// Returns how many of `steps` steps count: a length outside [0, steps] is cut to it.
LINNET_HOST_DEVICE constexpr std::int64_t steps_within(std::int64_t length, std::int64_t steps) {
  return length < 0 ? 0 : length < steps ? length : steps;
}

struct SequenceMaskAttrs {
  std::int64_t axis = 1;  ///< along which the steps lie
  double fill = 0;        ///< finite
  bool mean = false;      ///< divides the steps that count by their number
  template <class V>
  void fields(V&& visit) {
    visit("axis", axis);
    visit("fill", fill);
    visit("mean", mean);
  }
  bool operator==(const SequenceMaskAttrs&) const = default;
};

/// y[n, ..., t, ...] = x[n, ..., t, ...] for t < lengths[n], `fill` after it; with `mean` it is x
/// / lengths[n], so that the sum over the steps is a mean. x f32 (N, ...) of rank 2 or more,
/// or i32 (labels) without `mean` and with a fill of 0; lengths i32 (N), cut to the steps that
/// there are. The gradient is the same with zeros.
class SequenceMaskOp final : public OpBase<SequenceMaskOp, SequenceMaskAttrs> {
 public:
  static constexpr std::string_view kName = "sequence_mask";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x, lengths };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::x}; }
};

}  // namespace linnet
