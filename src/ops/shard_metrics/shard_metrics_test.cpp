// SPDX-License-Identifier: Apache-2.0
#include "ops/shard_metrics/shard_metrics.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

std::size_t at(Counter c) { return static_cast<std::size_t>(c); }

TEST(ShardMetrics, AgreesWithTheReference) {
  for (std::int64_t history : {0, 2}) {
    check({"shard_metrics",
           make_op(ShardMetricsOp({.history = history})),
           {{DType::f64, Shape{kCounters + history}},
            {DType::f64, Shape{kCounters}},
            {DType::f64, Shape{}}},
           {{1, 5}, {1, 5}, {0, 0}},
           false});
  }
}

TEST(ShardMetrics, AddsTheLeaves) {
  Graph graph;
  const ValueType type{DType::f64, Shape{kCounters}};
  const Value counters =
      graph.add_value("counters", {DType::f64, Shape{kCounters + 2}}, Storage::external, 0);
  const Value shards = graph.add_value("shards", type, Storage::external, 1);
  const Value stopped = graph.add_value("stopped", {DType::f64, Shape{}}, Storage::external, 2);
  const std::vector<Value> all{counters, shards, stopped};
  graph.add(make_op(ShardMetricsOp({.history = 2})), all, "metrics");
  for (double bad : {0.0, 1.0}) {
    std::vector<double> before(kCounters + 2, 1);
    std::vector<double> found(kCounters, 0);
    found[at(Counter::last_loss)] = 1.5;
    found[at(Counter::correct)] = 3;
    found[at(Counter::samples)] = 8;
    found[at(Counter::weight)] = 8;
    found[at(Counter::not_finite)] = bad;
    const auto after = run(graph, all, {before, found, {0}}, all, {.step = 5});
    EXPECT_EQ(after[0][at(Counter::loss)], bad > 0 ? 1 : 13);
    EXPECT_EQ(after[0][at(Counter::correct)], 4);
    EXPECT_EQ(after[0][at(Counter::samples)], 9);
    EXPECT_EQ(after[0][at(Counter::last_loss)], 1.5);
    EXPECT_EQ(after[0][kCounters], 1);
    EXPECT_EQ(after[0][kCounters + 1], 1.5);
    EXPECT_EQ(after[1], found);
    EXPECT_EQ(after[2][0], bad > 0 ? 6 : 0);
  }
}

}  // namespace
}  // namespace linnet::testing
