// SPDX-License-Identifier: Apache-2.0
#include "ops/metrics/metrics.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

const ValueType kCountersType{DType::f64, Shape{kCounters}};

TEST(Metrics, AgreesWithTheReference) {
  check({"metrics", make_op(MetricsOp({.batch = 37})),
         {kCountersType, f32({}), f32({37, 10}), i32({37})},
         {{1, 5}, {0, 2}, {-1, 1}, {0, 10}}, false});
  check({"metrics batch 1", make_op(MetricsOp({.batch = 1})),
         {kCountersType, f32({}), f32({1, 3}), i32({1})}, {{1, 5}, {0, 2}, {-1, 1}, {0, 3}}, false});
  check({"metrics regression", make_op(MetricsOp({.batch = 8, .classification = false})),
         {kCountersType, f32({})}, {{1, 5}, {0, 2}}, false});
}

TEST(Metrics, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(MetricsOp({.batch = 4})),
                            {kCountersType, f32({}), f32({4, 3}), i32({5})}, "metrics"),
            "[metrics 'metrics'] expected scores (N, C) and labels (N); got counters=(5), loss=(), "
            "scores=(4, 3), labels=(5)");
}

}  // namespace
}  // namespace linnet::testing
