// SPDX-License-Identifier: Apache-2.0
#include "ops/metrics/metrics.h"

#include <algorithm>
#include <cmath>

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> MetricsOp::infer(std::span<const ValueType> inputs) const {
  const std::vector<ValueType> types(inputs.begin(), inputs.end());
  const std::size_t weights = weights_input(inputs.size());
  const std::size_t operands = (attrs().classification ? 4U : 2U) + (weights > 0 ? 1U : 0U);
  require(inputs.size() == operands && attrs().history >= 0 &&
              inputs[In::counters] == ValueType{DType::f64, Shape{kCounters + attrs().history}} &&
              inputs[In::loss] == ValueType{DType::f32, Shape{}},
          "expected counters ({}) and a scalar loss; got {}", kCounters + attrs().history,
          to_string({"counters", "loss", "scores", "labels"}, types));
  require(!attrs().classification ||
              (inputs[In::scores].dtype == DType::f32 && inputs[In::scores].shape.rank() == 2 &&
               inputs[In::labels] == ValueType{DType::i32, Shape{inputs[In::scores].shape[0]}}),
          "expected scores (N, C) and labels (N); got {}",
          to_string({"counters", "loss", "scores", "labels"}, types));
  require(weights == 0 ||
              (inputs[weights].dtype == DType::f32 &&
               (!attrs().classification || inputs[weights].shape == inputs[In::labels].shape)),
          "expected f32 weights{}; got {}", attrs().classification ? " (N)" : "",
          to_string(types.back()));
  return {};
}

void MetricsOp::reference(const ReferenceArgs& args) const {
  ReferenceTensor& counters = args.in(In::counters);
  const auto count = [&](Counter c) -> double& {
    return counters.data[static_cast<std::size_t>(c)];
  };
  const double loss = args.in(In::loss)[0];
  const auto batch = static_cast<double>(attrs().batch);
  if (attrs().shard) std::fill_n(counters.data.begin(), kCounters, 0.0);
  count(Counter::last_loss) = loss;
  if (attrs().history > 0) {
    const auto history = static_cast<std::uint64_t>(attrs().history);
    counters.data[kCounters + args.step.step % history] = loss;
  }
  const std::size_t place = weights_input(args.inputs.size());
  const auto weight_of = [&](std::int64_t n) { return place > 0 ? args.in(place)[n] : 1; };
  double weight = place > 0 ? 0 : batch;
  for (std::int64_t n = 0; place > 0 && n < args.in(place).shape.elements(); ++n) {
    weight += weight_of(n);
  }
  count(Counter::samples) += batch;
  count(Counter::weight) += weight;
  if (std::isfinite(loss)) {
    count(Counter::loss) += loss * weight;
  } else {
    count(Counter::not_finite) += 1;
  }
  if (!attrs().classification) return;
  const std::int64_t classes = args.in(In::scores).shape[1];
  for (std::int64_t n = 0; n < args.in(In::scores).shape[0]; ++n) {
    const double* row = args.in(In::scores).data.data() + n * classes;
    const auto best = std::max_element(row, row + classes) - row;
    count(Counter::correct) +=
        static_cast<double>(best) == args.in(In::labels)[n] ? weight_of(n) : 0;
  }
}

void register_metrics(OpRegistry& registry) { registry.add<MetricsOp>(); }

}  // namespace linnet
