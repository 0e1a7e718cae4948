// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.h"
#include "graph/graph.h"

namespace linnet {

/// Returns x rounded towards zero; -1 for NaN and where an i32 does not hold it.
template <class T>
LINNET_HOST_DEVICE std::int32_t id_of(T x) {
  constexpr T kEnd = static_cast<T>(2147483648.0);
  return x >= -kEnd && x < kEnd ? static_cast<std::int32_t>(x) : -1;
}

/// y = x, f32, as ids, i32: rounded towards zero, -1 for NaN and where an i32 does not hold it. Any
/// shape. No gradient.
class ToIdsOp final : public OpBase<ToIdsOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "to_ids";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kKept;
  }
};

}  // namespace linnet
