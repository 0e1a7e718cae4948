// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "graph/graph.h"
#include "graph/step.h"
#include "ops/finite_check/finite_check.h"
#include "ops/metrics/metrics.h"

namespace linnet {

struct LeafMetricsAttrs {
  std::int64_t history = 0;  ///< as MetricsAttrs::history
  template <class V>
  void fields(V&& visit) {
    visit("history", history);
  }
  bool operator==(const LeafMetricsAttrs&) const = default;
};

/// Adds to the counters of a training what was counted for the leaves of one batch. A leaf whose
/// loss is not finite stops the training as FiniteCheckOp does. Operands, all f64: counters
/// (kCounters + history), mutated; the sum of those of the leaves (kCounters); stopped (), mutated.
class LeafMetricsOp final : public OpBase<LeafMetricsOp, LeafMetricsAttrs> {
 public:
  static constexpr std::string_view kName = "leaf_metrics";
  enum In : std::uint8_t { counters, leaves, stopped };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  bool mutates(std::size_t input) const override { return input != In::leaves; }
};

/// All that the operator does, which the reference and both kernels share.
LINNET_HOST_DEVICE inline void add_leaf_metrics(double* counters, const double* leaves,
                                                double* stopped, std::uint64_t history,
                                                const StepInfo& step) {
  const auto of = [leaves](Counter c) { return leaves[static_cast<std::size_t>(c)]; };
  const double loss = of(Counter::last_loss);
  const bool finite = of(Counter::not_finite) == 0;
  for (std::int64_t c = 1; c < kCounters; ++c) counters[c] += leaves[c];
  if (finite) counters[static_cast<std::size_t>(Counter::loss)] += loss * of(Counter::weight);
  counters[static_cast<std::size_t>(Counter::last_loss)] = loss;
  if (history > 0) counters[kCounters + static_cast<std::int64_t>(step.step % history)] = loss;
  if (!finite) *stopped = stop_at(*stopped, step);
}

}  // namespace linnet
