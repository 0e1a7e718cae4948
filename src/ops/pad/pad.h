// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct PadAttrs {
  int axis = 1;             ///< from the front, never the batch's 0
  std::int64_t before = 0;  ///< elements put before x
  std::int64_t after = 0;   ///< and after it
  double value = 0;         ///< theirs; finite
  template <class V>
  void fields(V&& visit) {
    visit("axis", axis);
    visit("before", before);
    visit("after", after);
    visit("value", value);
  }
  bool operator==(const PadAttrs&) const = default;
};

/// x with `value` before and after it along one axis. f32, any rank from 2 on. Throws Error unless
/// 1 <= axis < rank, and for a negative count.
class PadOp final : public OpBase<PadOp, PadAttrs> {
 public:
  static constexpr std::string_view kName = "pad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kept_if(attrs().axis != 1, steps::kAppended);
  }
};

}  // namespace linnet
