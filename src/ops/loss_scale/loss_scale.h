// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "graph/graph.h"
#include "graph/step.h"
#include "ops/finite_check/finite_check.h"
#include "ops/metrics/metrics.h"

namespace linnet {

// Gradients in fp16 underflow, so a training multiplies its loss by a power of two, divides the
// gradients of weights by it where the optimizer reads them, and finds a fitting one as PyTorch's
// GradScaler does, but on the device.

/// What a training keeps of the scale, all f32: the scale, the steps since it changed, and the
/// steps that were left out.
enum class LossScale : std::uint8_t { scale, good_steps, skipped };
inline constexpr std::int64_t kLossScaleSize = 3;
inline constexpr float kFirstLossScale = 65536;
inline constexpr float kLeastLossScale = 0x1p-14F;  ///< a training that needs a smaller one fails
inline constexpr float kMostLossScale = 0x1p32F;    ///< squares of gradients stay finite in f32

struct LossScaleAttrs {
  std::int64_t interval = 2000;  ///< good steps after which the scale doubles
  template <class V>
  void fields(V&& visit) {
    visit("interval", interval);
  }
  bool operator==(const LossScaleAttrs&) const = default;
};

/// Ends a step whose loss was multiplied by the scale. Where a gradient was not finite, so that
/// FiniteCheckOp has stopped the step, the scale is halved and the next step goes on; where the
/// loss was not, or the scale is least, the training stays stopped. Operands: the scale f32
/// (kLossScaleSize), mutated; stopped f64 (), mutated; the counters, f64.
class LossScaleOp final : public OpBase<LossScaleOp, LossScaleAttrs> {
 public:
  static constexpr std::string_view kName = "loss_scale";
  enum In : std::uint8_t { scale, stopped, counters };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  bool mutates(std::size_t input) const override { return input != In::counters; }
};

/// All that the operator does, which the reference and both kernels share. T: float or double.
template <class T>
LINNET_HOST_DEVICE inline void update_loss_scale(T* state, double* stopped, const double* counters,
                                                 std::int64_t interval, const StepInfo& step) {
  T& scale = state[static_cast<std::size_t>(LossScale::scale)];
  T& good_steps = state[static_cast<std::size_t>(LossScale::good_steps)];
  if (*stopped == 0) {
    good_steps += 1;
    if (good_steps < static_cast<T>(interval)) return;
    good_steps = 0;
    if (scale < static_cast<T>(kMostLossScale)) scale *= 2;
    return;
  }
  const bool loss_is_finite = counters[static_cast<std::size_t>(Counter::not_finite)] == 0;
  if (*stopped != stop_at(0, step) || !loss_is_finite || scale <= static_cast<T>(kLeastLossScale)) {
    return;
  }
  scale /= 2;
  good_steps = 0;
  state[static_cast<std::size_t>(LossScale::skipped)] += 1;
  *stopped = 0;
}

}  // namespace linnet
