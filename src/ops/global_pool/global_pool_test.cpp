// SPDX-License-Identifier: Apache-2.0
#include "ops/global_pool/global_pool.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"
#include "ops/reduce/same_on_cuda_test.h"

namespace linnet::testing {
namespace {

TEST(GlobalPool, AgreesWithTheReference) {
  for (const OpPtr& op : {make_op(GlobalAvgPoolOp()), make_op(GlobalMaxPoolOp())}) {
    check({"global_pool", op, {f32({2, 5, 3, 4})}});
    check({"global_pool whole packs", op, {f32({2, 5, 3, 8})}});
    check({"global_pool one channel", op, {f32({2, 16, 17, 1})}, {}, false});
    check({"global_pool one large image", op, {f32({1, 190, 170, 4})}, {}, false});
    check({"global_pool one pixel", op, {f32({3, 1, 1, 2})}});
    check({"global_pool no sample", op, {f32({0, 5, 3, 4})}, {}, false});
    check({"global_pool many tasks", op, {f32({67, 31, 17, 9})}, {}, false});
    check({"global_pool equal pixels", op, {f32({3, 4, 4, 5})}, {{1, 1}}, false});
    check({"global_pool extreme", op, {f32({3, 4, 4, 5})}, {{-1e30, 1e30}}, false});
  }
}

TEST(GlobalPool, GradientsAtManyTasks) {
  check(
      {"global_avg_pool_grad", make_op(GlobalAvgPoolGradOp({31, 17})), {f32({67, 9})}, {}, false});
  check({"global_max_pool_grad",
         make_op(GlobalMaxPoolGradOp({31, 17})),
         {f32({67, 9}), i32({67, 9})},
         {{-1, 1}, {0, 31 * 17}},
         false});
}

TEST(GlobalPool, MayLieAnywhere) {
  check_unaligned(make_op(GlobalAvgPoolOp()), {f32({2, 9, 5, 8})});
  check_unaligned(make_op(GlobalMaxPoolOp()), {f32({2, 9, 5, 8})});
  check_unaligned(make_op(GlobalAvgPoolGradOp({9, 5})), {f32({2, 8})});
  check_unaligned(make_op(GlobalMaxPoolGradOp({9, 5})), {f32({2, 8}), i32({2, 8})});
}

/// However threads share out the pixels.
TEST(GlobalMaxPool, TheFirstOfEqualOrNaNWinsOnCuda) {
  for (std::size_t channels : {1U, 3U, 4U}) {
    const std::vector<ValueType> types = {f32({1, 8, 9, static_cast<std::int64_t>(channels)})};
    const std::size_t pixels = 72 * channels;
    std::vector<float> x(pixels, -INFINITY);
    expect_same_on_cuda(make_op(GlobalMaxPoolOp()), types, {x.data()});
    for (std::size_t at = 0; at < pixels; at += 11) {
      x.assign(pixels, 3.0F);
      x[at] = 5.0F;
      x[(at + 30) % pixels] = 5.0F;
      expect_same_on_cuda(make_op(GlobalMaxPoolOp()), types, {x.data()});
      x[(at + 13) % pixels] = std::nanf("");
      x[(at + 60) % pixels] = std::nanf("");
      expect_same_on_cuda(make_op(GlobalMaxPoolOp()), types, {x.data()});
    }
  }
}

TEST(GlobalMaxPool, NaNWins) {
  Graph graph;
  const Value x = graph.add_value("x", f32({1, 1, 3, 1}), Storage::external, 0);
  const Value y = graph.add(make_op(GlobalMaxPoolOp()), {x}, "pool")[0];
  for (std::size_t at = 0; at < 3; ++at) {
    std::vector<double> pixels{3, 2, 1};
    pixels[at] = std::nan("");
    EXPECT_TRUE(std::isnan(run(graph, {x}, {pixels}, {y})[0][0])) << at;
  }
}

TEST(GlobalPool, NamesTheLayerAndTheShape) {
  EXPECT_EQ(inference_error(make_op(GlobalAvgPoolOp()), {f32({4, 8})}, "pool"),
            "[global_avg_pool 'pool'] expected images (N, H, W, C) with pixels; got x=(4, 8)");
  EXPECT_EQ(inference_error(make_op(GlobalMaxPoolGradOp({2, 2})), {f32({3, 4}), i32({3, 5})},
                            "pool"),
            "[global_max_pool_grad 'pool'] expected dy (N, C); got dy=(3, 4), winner=(3, 5)");
}

}  // namespace
}  // namespace linnet::testing
