// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cpu/kernel.h"
#include "ops/metrics/count_batch_cpu.h"

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
    if (attrs.shard) std::fill_n(counters, kCounters, 0.0);
    const float* weights = place > 0 ? args.in(place) : nullptr;
    BatchCount counted{.loss = *args.in(In::loss), .samples = static_cast<double>(attrs.batch)};
    counted.weight = place > 0 ? 0 : counted.samples;
    for (std::int64_t n = 0; n < weighed; ++n) counted.weight += weights[n];
    for (std::int64_t n = 0; n < rows; ++n) {
      const float* row = args.in(In::scores) + n * classes;
      const bool right =
          std::max_element(row, row + classes) - row == args.in<std::int32_t>(In::labels)[n];
      if (right) counted.correct += weights != nullptr ? weights[n] : 1;
    }
    count_batch(counted, attrs.history, *task.step, counters);
  }));
  return kernel;
}

}  // namespace

void register_metrics(Registry& registry) { registry.add(MetricsOp::kName, prepare); }

}  // namespace linnet::cpu
