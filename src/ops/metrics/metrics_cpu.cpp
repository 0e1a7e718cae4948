// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "backend/cpu/kernel.h"
#include "ops/metrics/metrics.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  using In = MetricsOp::In;
  const MetricsAttrs attrs = node.attrs<MetricsOp>();
  const std::int64_t rows = attrs.classification ? node.in(In::scores)[0] : 0;
  const std::int64_t classes = attrs.classification ? node.in(In::scores)[1] : 0;
  const std::size_t place =
      static_cast<const MetricsOp&>(node.op).weights_input(node.inputs.size());
  const std::int64_t weighed = place > 0 ? node.in(place).elements() : 0;
  Kernel kernel;
  kernel.stages.push_back(parallel(1, [=](const Args& args, const Task& task) {
    auto* counters = args.in_out<double>(In::counters);
    const auto count = [&](Counter c) -> double& { return counters[static_cast<std::size_t>(c)]; };
    const double loss = args.in(In::loss)[0];
    const auto batch = static_cast<double>(attrs.batch);
    if (attrs.leaf) std::fill_n(counters, kCounters, 0.0);
    count(Counter::last_loss) = loss;
    if (attrs.history > 0) {
      const auto history = static_cast<std::uint64_t>(attrs.history);
      counters[kCounters + task.step->step % history] = loss;
    }
    const float* weights = place > 0 ? args.in(place) : nullptr;
    double weight = place > 0 ? 0 : batch;
    for (std::int64_t n = 0; n < weighed; ++n) weight += weights[n];
    count(Counter::samples) += batch;
    count(Counter::weight) += weight;
    if (std::isfinite(loss)) {
      count(Counter::loss) += loss * weight;
    } else {
      count(Counter::not_finite) += 1;
    }
    double correct = 0;
    for (std::int64_t n = 0; n < rows; ++n) {
      const float* row = args.in(In::scores) + n * classes;
      const bool right =
          std::max_element(row, row + classes) - row == args.in<std::int32_t>(In::labels)[n];
      if (right) correct += weights != nullptr ? weights[n] : 1;
    }
    count(Counter::correct) += correct;
  }));
  return kernel;
}

}  // namespace

void register_metrics(Registry& registry) { registry.add(MetricsOp::kName, prepare); }

}  // namespace linnet::cpu
