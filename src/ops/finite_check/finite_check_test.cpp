// SPDX-License-Identifier: Apache-2.0
#include "ops/finite_check/finite_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "op_harness.h"

namespace linnet::testing {
namespace {

const ValueType kStopped{DType::f64, Shape{}};

TEST(FiniteCheck, AgreesWithTheReference) {
  for (const Shape& x : {Shape{}, Shape{0}, Shape{19}, Shape{300, 401}}) {
    check({"finite_check " + to_string(x),
           make_op(FiniteCheckOp()),
           {kStopped, f32(x)},
           {{0, 0}, {-1, 1}},
           false});
  }
}

double stopped_by(double before, std::size_t at, double bad, std::size_t length) {
  Graph graph;
  const Value stopped = graph.add_value("stopped", kStopped, Storage::external, 0);
  const Value x =
      graph.add_value("x", f32({static_cast<std::int64_t>(length)}), Storage::external, 1);
  graph.add(make_op(FiniteCheckOp()), {stopped, x}, "check");
  std::vector<double> values(length, std::numeric_limits<float>::max());
  values[at] = bad;
  const StepInfo step{.step = 41};
  compare_with_reference(graph, {stopped, x}, {{before}, values}, {stopped}, 0, step);
  return run(graph, {stopped, x}, {{before}, values}, {stopped}, step)[0][0];
}

TEST(FiniteCheck, NamesTheFirstStep) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(stopped_by(0, 0, -1, 7), 0);
  for (double bad : {std::nan(""), infinity, -infinity}) {
    for (std::size_t at : {0, 3, 4, 6}) EXPECT_EQ(stopped_by(0, at, bad, 7), 42);
    EXPECT_EQ(stopped_by(17, 2, bad, 7), 17);
    EXPECT_EQ(stopped_by(0, 99999, bad, 100001), 42);
    EXPECT_EQ(stopped_by(0, 100000, bad, 100001), 42);
  }
}

TEST(FiniteCheck, LooksAtTheLossAsWell) {
  Graph graph;
  const Value stopped = graph.add_value("stopped", kStopped, Storage::external, 0);
  const Value x = graph.add_value("x", f32({5}), Storage::external, 1);
  const Value loss = graph.add_value("loss", f32({}), Storage::external, 2);
  graph.add(make_op(FiniteCheckOp()), {stopped, x, loss}, "check");
  for (double value : {0.5, std::nan("")}) {
    const std::vector<std::vector<double>> data{{0}, {1, 2, 3, 4, 5}, {value}};
    compare_with_reference(graph, {stopped, x, loss}, data, {stopped}, 0, {.step = 2});
    EXPECT_EQ(run(graph, {stopped, x, loss}, data, {stopped}, {.step = 2})[0][0],
              std::isnan(value) ? 3 : 0);
  }
}

}  // namespace
}  // namespace linnet::testing
