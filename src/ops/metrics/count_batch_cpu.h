// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "graph/step.h"
#include "ops/metrics/metrics.h"

namespace linnet::cpu {

/// What a batch adds to the counters of MetricsOp.
struct BatchCount {
  double loss = 0;  ///< the batch's mean
  double samples = 0;
  double weight = 0;
  double correct = 0;
};

inline void count_batch(const BatchCount& batch, std::int64_t history, const StepInfo& step,
                        double* counters) {
  const auto count = [&](Counter c) -> double& { return counters[static_cast<std::size_t>(c)]; };
  count(Counter::last_loss) = batch.loss;
  if (history > 0) {
    counters[kCounters + step.step % static_cast<std::uint64_t>(history)] = batch.loss;
  }
  count(Counter::samples) += batch.samples;
  count(Counter::weight) += batch.weight;
  if (std::isfinite(batch.loss)) {
    count(Counter::loss) += batch.loss * batch.weight;
  } else {
    count(Counter::not_finite) += 1;
  }
  count(Counter::correct) += batch.correct;
}

}  // namespace linnet::cpu
