// SPDX-License-Identifier: Apache-2.0
#include "ops/gather_axis/gather_axis.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op_harness.h"

namespace linnet::testing {
namespace {

OpPtr gather(int axis, bool along) { return make_op(GatherAxisOp({.axis = axis, .along = along})); }
OpPtr gradient(int axis, bool along, std::int64_t dim) {
  return make_op(GatherAxisGradOp({.gather = {.axis = axis, .along = along}, .dim = dim}));
}

TEST(GatherAxis, AgreesWithTheReference) {
  const auto fills = [](double dim) { return std::vector<Fill>{{-1, 1}, {0, dim - 1}}; };
  check({"steps by id", gather(1, false), {f32({2, 5, 3}), i32({2, 4})}, fills(5)});
  check({"a step by id", gather(1, false), {f32({3, 5, 2}), i32({3})}, fills(5)});
  check({"features by id", gather(2, false), {f32({2, 3, 5}), i32({2, 4})}, fills(5)});
  check({"by a matrix of ids", gather(1, false), {f32({2, 5, 3}), i32({2, 2, 3})}, fills(5)});
  check({"middle axis by id", gather(2, false), {f32({2, 3, 5, 2}), i32({2, 2})}, fills(5)});
  check({"along steps", gather(1, true), {f32({2, 5, 3}), i32({2, 4, 3})}, fills(5)});
  check({"along features", gather(2, true), {f32({2, 3, 5}), i32({2, 3, 1})}, fills(5)});
  check({"no sample", gather(1, false), {f32({0, 5, 3}), i32({0, 4})}, fills(5), false});
  check({"many tasks", gather(1, false), {f32({64, 40, 33}), i32({64, 90})}, fills(40), false});
}

TEST(GatherAxis, GradientAddsInTheOrderOfTheIds) {
  const std::vector<Fill> fills{{-1, 1}, {0, 4}};
  check({"many hits", gradient(1, false, 5), {f32({3, 900, 64}), i32({3, 900})}, fills, false});
  check({"few rows", gradient(1, false, 5), {f32({1, 300, 513}), i32({1, 300})}, fills, false});
  check({"along", gradient(2, true, 5), {f32({30, 20, 70}), i32({30, 20, 70})}, fills, false});
  check({"no ids", gradient(1, false, 5), {f32({2, 0, 3}), i32({2, 0})}, fills, false});
}

TEST(GatherAxis, IdsOutsideGiveNaNAndCountForNothing) {
  Graph graph;
  const Value x = graph.add_value("x", f32({1, 3}), Storage::external, 0);
  const Value ids = graph.add_value("ids", i32({1, 4}), Storage::external, 12);
  const Value dy = graph.add_value("dy", f32({1, 4}), Storage::external, 28);
  const Value y = graph.emit(GatherAxisOp({.axis = 1}), {x, ids}, "gather");
  const Value dx =
      graph.emit(GatherAxisGradOp({.gather = {.axis = 1}, .dim = 3}), {dy, ids}, "gather");
  const auto got =
      run(graph, {x, ids, dy}, {{5, 6, 7}, {2, -1, 3, 2}, {1, 10, 100, 1000}}, {y, dx});
  EXPECT_EQ(got[0][0], 7);
  EXPECT_TRUE(std::isnan(got[0][1]) && std::isnan(got[0][2]));
  EXPECT_EQ(got[1], (std::vector<double>{0, 0, 1001}));
}

TEST(GatherAxis, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(gather(2, false), {f32({4, 5}), i32({4, 2})}, "pick"),
            "[gather_axis 'pick'] expected f32 x (N, ...) with the axis 2 and i32 ids (N, ...); "
            "got x=(4, 5), ids=(4, 2)");
  EXPECT_EQ(inference_error(gather(1, true), {f32({4, 5, 3}), i32({4, 2})}, "pick"),
            "[gather_axis 'pick'] expected f32 x (N, ...) with the axis 1 and i32 ids of x's shape "
            "but for that axis; got x=(4, 5, 3), ids=(4, 2)");
  EXPECT_NE(inference_error(gather(1, false), {f32({4, 5}), f32({4, 2})}), "");
  EXPECT_NE(inference_error(gather(1, false), {f32({4, 5}), i32({3, 2})}), "");
  EXPECT_NE(inference_error(gradient(1, false, 5), {f32({4, 3}), i32({4, 2})}), "");
  EXPECT_NE(inference_error(gradient(3, false, 5), {f32({4, 3}), i32({4, 2})}), "");
}

}  // namespace
}  // namespace linnet::testing
