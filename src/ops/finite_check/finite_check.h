// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "graph/step.h"

namespace linnet {

/// Stops a training: writes 1 + StepInfo::step into `stopped` f64 () where x, f32 of any shape, or
/// the loss f32 () holds NaN or an infinity, unless it holds a step already. Operands: stopped
/// (mutated), x, and perhaps the loss.
/// What changes the training's state reads `stopped` and does nothing unless it is 0.
class FiniteCheckOp final : public OpBase<FiniteCheckOp, NoAttributes> {
 public:
  static constexpr std::string_view kName = "finite_check";
  enum In : std::uint8_t { stopped, x, loss };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  bool mutates(std::size_t input) const override { return input == In::stopped; }
};

/// Returns what `stopped` becomes in a step that is not finite.
constexpr double stop_at(double stopped, const StepInfo& step) {
  return stopped != 0 ? stopped : 1 + static_cast<double>(step.step);
}

}  // namespace linnet
