// SPDX-License-Identifier: Apache-2.0
#include "ops/metrics/metrics.h"

#include <algorithm>
#include <cmath>

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> MetricsOp::infer(std::span<const ValueType> inputs) const {
  const std::vector<ValueType> types(inputs.begin(), inputs.end());
  require(inputs.size() == (attrs().classification ? 4U : 2U) && attrs().history >= 0 &&
              inputs[0] == ValueType{DType::f64, Shape{kCounters + attrs().history}} &&
              inputs[1] == ValueType{DType::f32, Shape{}},
          "expected counters ({}) and a scalar loss; got {}", kCounters + attrs().history,
          to_string({"counters", "loss", "scores", "labels"}, types));
  require(!attrs().classification ||
              (inputs[2].dtype == DType::f32 && inputs[2].shape.rank() == 2 &&
               inputs[3] == ValueType{DType::i32, Shape{inputs[2].shape[0]}}),
          "expected scores (N, C) and labels (N); got {}",
          to_string({"counters", "loss", "scores", "labels"}, types));
  return {};
}

void MetricsOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor& counters = args.in(0);
  const auto count = [&](Counter c) -> double& {
    return counters.data[static_cast<std::size_t>(c)];
  };
  const double loss = args.in(1)[0];
  const auto batch = static_cast<double>(attrs().batch);
  count(Counter::last_loss) = loss;
  if (attrs().history > 0) {
    const auto history = static_cast<std::uint64_t>(attrs().history);
    counters.data[kCounters + args.step.step % history] = loss;
  }
  count(Counter::samples) += batch;
  if (std::isfinite(loss)) {
    count(Counter::loss) += loss * batch;
  } else {
    count(Counter::not_finite) += 1;
  }
  if (!attrs().classification) return;
  const std::int64_t classes = args.in(2).shape[1];
  for (std::int64_t n = 0; n < args.in(2).shape[0]; ++n) {
    const double* row = args.in(2).data.data() + n * classes;
    const auto best = std::max_element(row, row + classes) - row;
    count(Counter::correct) += static_cast<double>(best) == args.in(3)[n] ? 1 : 0;
  }
}

void register_metrics(OpRegistry& registry) { registry.add<MetricsOp>(); }

}  // namespace linnet
