// SPDX-License-Identifier: Apache-2.0
#include "ops/arg_reduce/arg_reduce.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(ArgReduce, AgreesWithTheReference) {
  for (const ArgReduction kind : {ArgReduction::max, ArgReduction::min}) {
    const auto op = [&](int axis) { return make_op(ArgReduceOp({.kind = kind, .axis = axis})); };
    check({"arg last axis", op(1), {f32({5, 7})}, {}, false});
    check({"arg middle axis", op(1), {f32({3, 7, 4})}, {}, false});
    check({"arg of four axes", op(3), {f32({2, 3, 4, 5})}, {}, false});
    check({"arg of one", op(1), {f32({3, 1})}, {}, false});
    check({"arg no sample", op(1), {f32({0, 4})}, {}, false});
    check({"arg many tasks", op(1), {f32({300, 101, 7})}, {}, false});
  }
}

TEST(ArgReduce, TheFirstOfEqualOnesAndNaN) {
  Graph graph;
  const double nan = std::nan("");
  const Value x = graph.add_value("x", f32({3, 4}), Storage::external, 0);
  const Value largest = graph.emit(ArgReduceOp(), {x}, "arg");
  const Value least = graph.emit(ArgReduceOp({.kind = ArgReduction::min, .axis = 1}), {x}, "arg");
  const auto got =
      run(graph, {x}, {{1, 3, 3, 1, 2, nan, 5, nan, -1, -2, -3, -3}}, {largest, least});
  EXPECT_EQ(got[0], (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(got[1], (std::vector<double>{0, 1, 2}));
}

TEST(ArgReduce, NamesTheLayerAndTheShape) {
  EXPECT_EQ(inference_error(make_op(ArgReduceOp({.kind = ArgReduction::max, .axis = 2})),
                            {f32({3, 4})}, "best"),
            "[arg_reduce 'best'] expected one f32 operand with elements along an axis 2 after the "
            "batch; got x=(3, 4)");
  EXPECT_NE(inference_error(make_op(ArgReduceOp()), {f32({3, 0})}), "");
}

}  // namespace
}  // namespace linnet::testing
