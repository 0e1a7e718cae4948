// SPDX-License-Identifier: Apache-2.0
#include "ops/shard_metrics/shard_metrics.h"

#include "graph/registry.h"

namespace linnet {

std::vector<ValueType> ShardMetricsOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 3 && attrs().history >= 0 &&
              inputs[In::counters] == ValueType{DType::f64, Shape{kCounters + attrs().history}} &&
              inputs[In::shards] == ValueType{DType::f64, Shape{kCounters}} &&
              inputs[In::stopped] == ValueType{DType::f64, Shape{}},
          "expected f64 counters ({}) and ({}), and f64 (); got {}", kCounters + attrs().history,
          kCounters, to_string({"counters", "shards", "stopped"}, {inputs.begin(), inputs.end()}));
  return {};
}

void ShardMetricsOp::reference(const ReferenceArgs& args) const {
  add_shard_metrics(args.in(In::counters).data.data(), args.in(In::shards).data.data(),
                    args.in(In::stopped).data.data(), static_cast<std::uint64_t>(attrs().history),
                    args.step);
}

void register_shard_metrics(OpRegistry& registry) { registry.add<ShardMetricsOp>(); }

}  // namespace linnet
