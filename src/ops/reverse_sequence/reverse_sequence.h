// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "graph/graph.h"

namespace linnet {

/// Returns the step that comes to place t of a sequence of this length: within it from the end to
/// the beginning, after it as it is. Lengths outside [0, steps] are cut to it.
LINNET_HOST_DEVICE constexpr std::int64_t reversed_step(std::int64_t t, std::int64_t length,
                                                        std::int64_t steps) {
  const std::int64_t end = length < steps ? length : steps;
  return t < end ? end - 1 - t : t;
}

/// y[n, t] = x[n, lengths[n] - 1 - t] for t < lengths[n], else x[n, t]: each sequence from its end
/// to its beginning, its padding where it was. x f32 (N, T, ...), lengths i32 (N), cut to [0, T].
/// The gradient is the same. y[:, 0] is every sequence's last step.
class ReverseSequenceOp final : public OpBase<ReverseSequenceOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "reverse_sequence";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x, lengths };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
};

}  // namespace linnet
