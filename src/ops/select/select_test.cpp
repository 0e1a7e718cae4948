// SPDX-License-Identifier: Apache-2.0
#include "ops/select/select.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/differentiate.h"
#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(Select, AgreesWithTheReference) {
  const std::vector<bool> values{false, true, true};
  const OpPtr three = make_op(SelectOp());
  check({"select", three, {f32({3, 5}), f32({3, 5}), f32({3, 5})}, {}, true, values});
  check({"select one", three, {f32({1}), f32({1}), f32({1})}, {}, true, values});
  check({"select no sample", three, {f32({0, 2}), f32({0, 2}), f32({0, 2})}, {}, false});
  check({"select many tasks",
         three,
         {f32({300, 1001}), f32({300, 1001}), f32({300, 1001})},
         {},
         false});
  for (const bool when : {true, false}) {
    const OpPtr two = make_op(SelectOp({.when = when, .value = -1.5}));
    check({"select or a number", two, {f32({3, 5}), f32({3, 5})}, {}, true, {false, true}});
  }
  // Conditions of 0 and 1.
  const OpPtr two = make_op(SelectOp({.when = false, .value = 7}));
  const std::vector<Fill> fills{{0, 1}, {-1, 1}};
  check({"select by a mask", two, {f32({40}), f32({40})}, fills, false});
}

TEST(Select, ZeroIsFalseAndNaNIsNot) {
  Graph graph;
  const Value c = graph.add_value("c", f32({4}), Storage::external, 0);
  const Value a = graph.add_value("a", f32({4}), Storage::external, 16);
  const Value b = graph.add_value("b", f32({4}), Storage::external, 32);
  const Value y = graph.emit(SelectOp(), {c, a, b}, "select");
  const Value z = graph.emit(SelectOp({.when = false, .value = 9}), {c, a}, "select");
  const auto got =
      run(graph, {c, a, b}, {{0, 1, -0.5, std::nan("")}, {1, 2, 3, 4}, {-1, -2, -3, -4}}, {y, z});
  EXPECT_EQ(got[0], (std::vector<double>{-1, 2, 3, 4}));
  EXPECT_EQ(got[1], (std::vector<double>{1, 9, 9, 9}));
}

TEST(Select, WhatIsNotSelectedHasNoPartInTheGradient) {
  Graph graph;
  const Value c = graph.add_value("c", f32({2}), Storage::external, 0);
  const Value a = graph.add_value("a", f32({2}), Storage::external, 8);
  const Value dy = graph.add_value("dy", f32({2}), Storage::external, 16);
  const Value y = graph.emit(SelectOp({.when = true, .value = 1}), {c, a}, "select");
  const std::vector<Value> da =
      differentiate(graph, std::span(&y, 1), std::span(&dy, 1), std::span(&a, 1));
  const auto got = run(graph, {c, a, dy}, {{0, 1}, {1, 2}, {std::nan(""), 3}}, {da[0]});
  EXPECT_EQ(got[0], (std::vector<double>{0, 3}));
}

TEST(Select, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(SelectOp()), {f32({3}), f32({4})}, "mask"),
            "[select 'mask'] expected a condition, a and optionally b, f32 of one shape; got condition=(3), a=(4)");
}

}  // namespace
}  // namespace linnet::testing
