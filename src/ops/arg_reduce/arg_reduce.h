// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/host_device.h"
#include "graph/graph.h"

namespace linnet {

enum class ArgReduction : std::uint8_t { max, min };
constexpr std::array<std::string_view, 2> enum_names(ArgReduction) { return {"max", "min"}; }

struct ArgReduceAttrs {
  ArgReduction kind = ArgReduction::max;
  int axis = 1;  ///< from the front, never the batch's 0
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
    visit("axis", axis);
  }
  bool operator==(const ArgReduceAttrs&) const = default;
};

/// Returns whether x takes the place of the best so far: a NaN does of any number.
template <class T>
LINNET_HOST_DEVICE bool beats(ArgReduction kind, T x, T best) {
  if (x != x) return best == best;
  return kind == ArgReduction::max ? x > best : x < best;
}

/// The index along the axis of the largest or smallest element, the first of equal ones; NaN is
/// taken for it, as in PyTorch. x f32 (N, ...); y i32 of x's shape without the axis. No gradient.
class ArgReduceOp final : public OpBase<ArgReduceOp, ArgReduceAttrs> {
 public:
  static constexpr std::string_view kName = "arg_reduce";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kept_if(attrs().axis != 1, steps::kReduced);
  }
};

}  // namespace linnet
