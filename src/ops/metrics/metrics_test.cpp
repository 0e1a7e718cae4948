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
  for (const Shape& scores : {Shape{3000, 11}, Shape{300, 40}, Shape{5, 2500}}) {
    check({"metrics " + to_string(scores),
           make_op(MetricsOp({.batch = scores[0]})),
           {kCountersType, f32({}), f32(scores), i32({scores[0]})},
           {{1, 5}, {0, 2}, {-1, 1}, {0, 3}},
           false});
  }
  check({"metrics with a history",
         make_op(MetricsOp({.batch = 4, .history = 2})),  // step 3 of the case: the second place
         {{DType::f64, Shape{kCounters + 2}}, f32({}), f32({4, 3}), i32({4})},
         {{1, 5}, {0, 2}, {-1, 1}, {0, 3}},
         false});
  check({"metrics of a shard",
         make_op(MetricsOp({.batch = 4, .shard = true})),
         {kCountersType, f32({}), f32({4, 3}), i32({4})},
         {{1, 5}, {0, 2}, {-1, 1}, {0, 3}},
         false});
  check({"metrics weighted",
         make_op(MetricsOp({.batch = 37})),
         {kCountersType, f32({}), f32({37, 3}), i32({37}), f32({37})},
         {{1, 5}, {0, 2}, {-1, 1}, {0, 3}, {0, 2}},
         false});
  check({"metrics weighted many",
         make_op(MetricsOp({.batch = 3000})),
         {kCountersType, f32({}), f32({3000, 11}), i32({3000}), f32({3000})},
         {{1, 5}, {0, 2}, {-1, 1}, {0, 3}, {0, 2}},
         false});
  check({"metrics weighted steps",
         make_op(MetricsOp({.batch = 8, .classification = false})),
         {kCountersType, f32({}), f32({8, 300})},
         {{1, 5}, {0, 2}},
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
  const double infinity = std::numeric_limits<double>::infinity();
  for (double bad : {std::nan(""), infinity, -infinity}) {
    const std::vector<double> after =
        run(graph, {counters, loss}, {{5, 0, 16, 0, 1, 16}, {bad}}, {counters})[0];
    EXPECT_EQ(after[static_cast<std::size_t>(Counter::loss)], 5);
    EXPECT_EQ(after[static_cast<std::size_t>(Counter::samples)], 24);
    EXPECT_EQ(after[static_cast<std::size_t>(Counter::not_finite)], 1);
    compare_with_reference(graph, {counters, loss}, {{5, 0, 16, 0, 1, 16}, {bad}}, {counters});
  }
}

/// Equal scores, zeros of both signs, infinities and NaNs, each with every label.
TEST(Metrics, TheFirstOfEqualScoresCountsAndANaNInTheFirstPlaceOnly) {
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> rows{{2, 1, 2, 2, 0, 1},
                                              {-0.0, 0, -1, 0, -1, -1},
                                              {-1, 0, -1, -0.0, -1, -1},
                                              {nan, 1, 2, 3, 4, 5},
                                              {1, nan, 3, 2, nan, 3},
                                              {-infinity, -infinity, nan, nan, nan, nan},
                                              {nan, nan, nan, nan, nan, nan},
                                              {1, 2, 3, 4, 5, 6},
                                              {0, infinity, 0, 0, 0, infinity}};
  Graph graph;
  const Value counters = graph.add_value("counters", kCountersType, Storage::external, 0);
  const Value loss = graph.add_value("loss", f32({}), Storage::external, 1);
  const Value scores = graph.add_value("scores", f32({1, 6}), Storage::external, 2);
  const Value labels = graph.add_value("labels", i32({1}), Storage::external, 3);
  graph.add(make_op(MetricsOp({.batch = 1})), {counters, loss, scores, labels}, "metrics");
  for (const std::vector<double>& row : rows) {
    for (double label = 0; label < 6; ++label) {
      compare_with_reference(graph, {counters, loss, scores, labels},
                             {{0, 0, 0, 0, 0, 0}, {1}, row, {label}}, {counters});
    }
  }
}

TEST(Metrics, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(MetricsOp({.batch = 4})),
                            {kCountersType, f32({}), f32({4, 3}), i32({5})}, "metrics"),
            "[metrics 'metrics'] expected scores (N, C) and labels (N); got counters=(6), loss=(), "
            "scores=(4, 3), labels=(5)");
  EXPECT_EQ(inference_error(make_op(MetricsOp({.batch = 4})),
                            {kCountersType, f32({}), f32({4}), i32({4})}, "metrics"),
            "[metrics 'metrics'] expected scores (N, C) and labels (N); got counters=(6), loss=(), "
            "scores=(4), labels=(4)");
  EXPECT_EQ(inference_error(make_op(MetricsOp({.batch = 4})),
                            {kCountersType, f32({}), f32({4, 3}), i32({4}), f32({3})}, "metrics"),
            "[metrics 'metrics'] expected f32 weights (N); got f32 (3)");
}

}  // namespace
}  // namespace linnet::testing
