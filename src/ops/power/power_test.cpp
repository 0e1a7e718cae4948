// SPDX-License-Identifier: Apache-2.0
#include "ops/power/power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/differentiate.h"
#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(Power, AgreesWithTheReference) {
  const OpPtr op = make_op(PowerOp());
  const std::vector<Fill> fills{{0.2, 3}, {-2, 2}};
  check({"power", op, {f32({3, 5}), f32({3, 5})}, fills});
  check({"power one", op, {f32({1}), f32({1})}, fills});
  check({"power no sample", op, {f32({0, 4}), f32({0, 4})}, {}, false});
  check({"power many tasks", op, {f32({64, 33, 31}), f32({64, 33, 31})}, fills, false});
}

TEST(Power, OfNegativeNumbersAndZero) {
  Graph graph;
  const Value a = graph.add_value("a", f32({6}), Storage::external, 0);
  const Value b = graph.add_value("b", f32({6}), Storage::external, 24);
  const Value y = graph.emit(PowerOp(), {a, b}, "p");
  const auto got = run(graph, {a, b}, {{-2, -2, -2, 0, 0, 0}, {3, 2, 0.5, 0, 2, -1}}, {y})[0];
  EXPECT_EQ(got[0], -8);
  EXPECT_EQ(got[1], 4);
  EXPECT_TRUE(std::isnan(got[2]));
  EXPECT_EQ(got[3], 1);
  EXPECT_EQ(got[4], 0);
  EXPECT_EQ(got[5], std::numeric_limits<double>::infinity());
}

TEST(Power, SlopesAtZeroArePyTorchs) {
  Graph graph;
  const Value a = graph.add_value("a", f32({3}), Storage::external, 0);
  const Value b = graph.add_value("b", f32({3}), Storage::external, 12);
  const Value dy = graph.add_value("dy", f32({3}), Storage::external, 24);
  const Value y = graph.emit(PowerOp(), {a, b}, "p");
  const std::vector<Value> of{a, b};
  const std::vector<Value> slopes =
      differentiate(graph, std::span(&y, 1), std::span(&dy, 1), std::span(of));
  const auto got = run(graph, {a, b, dy}, {{0, 0, -2}, {0, 2, 3}, {1, 1, 1}}, slopes);
  EXPECT_EQ(got[0], (std::vector<double>{0, 0, 12}));
  EXPECT_EQ(got[1][0], 0);
  EXPECT_EQ(got[1][1], 0);
  EXPECT_TRUE(std::isnan(got[1][2]));
}

TEST(Power, NamesTheLayerAndWhatIsWrong) {
  EXPECT_EQ(inference_error(make_op(PowerOp()), {f32({3, 4}), f32({4})}, "p"),
            "[power 'p'] expected two f32 operands of one shape; got a=(3, 4), b=(4)");
}

}  // namespace
}  // namespace linnet::testing
