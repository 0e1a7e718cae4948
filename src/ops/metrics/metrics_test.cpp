// SPDX-License-Identifier: Apache-2.0
#include "ops/metrics/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "op_harness.h"

namespace linnet::testing {
namespace {

const ValueType kCountersType{DType::f64, Shape{kCounters}};

TEST(Metrics, AgreesWithTheReference) {
  check({"metrics",
         make_op(MetricsOp({.batch = 37})),
         {kCountersType, f32({}), f32({37, 10}), i32({37})},
         {{1, 5}, {0, 2}, {-1, 1}, {0, 10}},
         false});
  check({"metrics batch 1",
         make_op(MetricsOp({.batch = 1})),
         {kCountersType, f32({}), f32({1, 3}), i32({1})},
         {{1, 5}, {0, 2}, {-1, 1}, {0, 3}},
         false});
  check({"metrics regression",
         make_op(MetricsOp({.batch = 8, .classification = false})),
         {kCountersType, f32({})},
         {{1, 5}, {0, 2}},
         false});
}

TEST(Metrics, ALossThatIsNotFiniteIsCountedAndNotAdded) {
  Graph graph;
  const Value counters = graph.add_value("counters", kCountersType, Storage::external, 0);
  const Value loss = graph.add_value("loss", f32({}), Storage::external, 1);
  graph.add(make_op(MetricsOp({.batch = 8, .classification = false})), {counters, loss}, "metrics");
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const std::vector<double> after =
        run(graph, {counters, loss}, {{5, 0, 16, 0, 1}, {bad}}, {counters})[0];
    EXPECT_EQ(after[static_cast<std::size_t>(Counter::loss)], 5);
    EXPECT_EQ(after[static_cast<std::size_t>(Counter::samples)], 24);
    EXPECT_EQ(after[static_cast<std::size_t>(Counter::not_finite)], 1);
  }
}

TEST(Metrics, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(MetricsOp({.batch = 4})),
                            {kCountersType, f32({}), f32({4, 3}), i32({5})}, "metrics"),
            "[metrics 'metrics'] expected scores (N, C) and labels (N); got counters=(5), loss=(), "
            "scores=(4, 3), labels=(5)");
  EXPECT_EQ(inference_error(make_op(MetricsOp({.batch = 4})),
                            {kCountersType, f32({}), f32({4}), i32({4})}, "metrics"),
            "[metrics 'metrics'] expected scores (N, C) and labels (N); got counters=(5), loss=(), "
            "scores=(4), labels=(4)");
}

}  // namespace
}  // namespace linnet::testing
