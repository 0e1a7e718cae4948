// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "graph/graph.h"
#include "graph/step.h"
#include "ops/finite_check/finite_check.h"
#include "ops/metrics/metrics.h"

namespace linnet {

struct ShardMetricsAttrs {
  std::int64_t history = 0;  ///< as MetricsAttrs::history
  template <class V>
  void fields(V&& visit) {
    visit("history", history);
  }
  bool operator==(const ShardMetricsAttrs&) const = default;
};

/// Adds to the counters of a training what was counted for the shards of one batch. A shard whose
/// loss is not finite stops the training as FiniteCheckOp does. Operands, all f64: counters
/// (kCounters + history), mutated; the sum of those of the shards (kCounters); stopped (), mutated.
class ShardMetricsOp final : public OpBase<ShardMetricsOp, ShardMetricsAttrs> {
 public:
  static constexpr std::string_view kName = "shard_metrics";
  enum In : std::uint8_t { counters, shards, stopped };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  bool mutates(std::size_t input) const override { return input != In::shards; }
};

/// All that the operator does, which the reference and both kernels share.
LINNET_HOST_DEVICE inline void add_shard_metrics(double* counters, const double* shards,
                                                 double* stopped, std::uint64_t history,
                                                 const StepInfo& step) {
  const auto of = [shards](Counter c) { return shards[static_cast<std::size_t>(c)]; };
  const double loss = of(Counter::last_loss);
  const bool finite = of(Counter::not_finite) == 0;
  for (std::int64_t c = 1; c < kCounters; ++c) counters[c] += shards[c];
  if (finite) counters[static_cast<std::size_t>(Counter::loss)] += loss * of(Counter::weight);
  counters[static_cast<std::size_t>(Counter::last_loss)] = loss;
  if (history > 0) counters[kCounters + static_cast<std::int64_t>(step.step % history)] = loss;
  if (!finite) *stopped = stop_at(*stopped, step);
}

}  // namespace linnet
