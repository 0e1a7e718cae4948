// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// The counters that a MetricsOp adds to, in this order; all f64.
enum class Counter : std::uint8_t {
  loss,     ///< sum over the samples of their batch's mean loss, each times its weight
  correct,  ///< weights of the samples whose largest score is their label's
  samples,
  not_finite,  ///< batches whose loss was NaN or infinite
  last_loss,   ///< of the newest batch alone
  weight,      ///< sum of the samples' weights; the samples where they have none
};
inline constexpr std::int64_t kCounters = 6;
/// How many of the newest steps' losses a training keeps on the device, for its reports.
inline constexpr std::int64_t kLossHistory = 4096;

struct MetricsAttrs {
  std::int64_t batch = 1;
  bool classification = true;  ///< with scores and labels
  std::int64_t history = 0;    ///< losses of single steps that stand after the counters
  /// Whether the counters become this batch's alone: those of a shard, which are added afterwards.
  bool shard = false;
  template <class V>
  void fields(V&& visit) {
    visit("batch", batch);
    visit("classification", classification);
    visit("history", history);
    visit("shard", shard);
  }
  bool operator==(const MetricsAttrs&) const = default;
};

/// Adds a batch to the counters, f64 (kCounters + history), which it mutates, or of a shard sets
/// them; the loss of step s also goes to place s % history after them. Operands: counters, loss (),
/// for classification scores (N, C) and labels i32 (N), and perhaps weights f32 (N, ...), for
/// classification (N). The first of equal scores counts.
class MetricsOp final : public OpBase<MetricsOp, MetricsAttrs> {
 public:
  static constexpr std::string_view kName = "metrics";
  enum In : std::uint8_t { counters, loss, scores, labels };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  void reference(const ReferenceArgs& args) const override;
  bool mutates(std::size_t input) const override { return input == In::counters; }

  /// Returns the place of the weights among so many operands; 0: there are none.
  std::size_t weights_input(std::size_t operands) const {
    const std::size_t last = attrs().classification ? In::labels + 1 : In::loss + 1;
    return operands > last ? last : 0;
  }
};

}  // namespace linnet
