// SPDX-License-Identifier: Apache-2.0
#include "ops/random_normal/random_normal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(RandomNormal, AgreesWithTheReference) {
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{7}, {1}, {4}, {3, 5}}) {
    const OpPtr op = make_op(RandomNormalOp({.shape = shape, .stream = 3}));
    check({"random normal", op, {f32({6, 2})}, {}, false});
    check({"random normal one", op, {f32({1})}, {}, false});
    check({"random normal no sample", op, {f32({0, 4})}, {}, false});
  }
  const OpPtr many = make_op(RandomNormalOp({.shape = {301}}));
  check({"random normal many tasks", many, {f32({100, 3})}, {}, false});
}

TEST(RandomNormal, AgreesWithTheReferenceFromAnyRow) {
  OpCase op_case{"random normal rows", make_op(RandomNormalOp({.shape = {5}})), {f32({4})}};
  op_case.gradient = false;
  op_case.step.first_row = 1000;
  check(op_case);
}

std::vector<double> draw(std::int64_t stream, const StepInfo& step, std::int64_t rows,
                         std::int64_t size) {
  Graph graph;
  const Value x = graph.add_value("x", f32({rows}), Storage::external, 0);
  const Value y = graph.emit(RandomNormalOp({.shape = {size}, .stream = stream}), {x}, "noise");
  return run(graph, {x}, {std::vector<double>(static_cast<std::size_t>(rows))}, {y}, step)[0];
}

TEST(RandomNormal, PartsOfABatchDrawAsTheWholeBatch) {
  std::vector<double> parts = draw(1, {.seed = 3, .step = 5}, 5, 7);
  const std::vector<double> rest = draw(1, {.seed = 3, .step = 5, .first_row = 5}, 7, 7);
  parts.insert(parts.end(), rest.begin(), rest.end());
  EXPECT_EQ(parts, draw(1, {.seed = 3, .step = 5}, 12, 7));
}

TEST(RandomNormal, SeedStepAndStreamChangeIt) {
  const std::vector<double> base = draw(0, {.seed = 1, .step = 2}, 3, 4);
  EXPECT_EQ(draw(0, {.seed = 1, .step = 2}, 3, 4), base);
  EXPECT_NE(draw(0, {.seed = 2, .step = 2}, 3, 4), base);
  EXPECT_NE(draw(0, {.seed = 1, .step = 3}, 3, 4), base);
  EXPECT_NE(draw(1, {.seed = 1, .step = 2}, 3, 4), base);
}

/// Moments of 10^6 numbers lie within five standard errors of a normal distribution's, and so do
/// products of neighbours.
TEST(RandomNormal, IsNormal) {
  const std::vector<double> x = draw(0, {.seed = 1}, 1000, 1000);
  const auto n = static_cast<double>(x.size());
  double mean = 0;
  double square = 0;
  double fourth = 0;
  double beyond = 0;
  double neighbours = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean += x[i] / n;
    square += x[i] * x[i] / n;
    fourth += x[i] * x[i] * x[i] * x[i] / n;
    beyond += std::abs(x[i]) > 1.959963985 ? 1 / n : 0;
    neighbours += i > 0 ? x[i] * x[i - 1] / n : 0;
  }
  EXPECT_NEAR(mean, 0, 5e-3);
  EXPECT_NEAR(square, 1, 5 * std::sqrt(2) * 1e-3);
  EXPECT_NEAR(fourth, 3, 5 * std::sqrt(96) * 1e-3);
  EXPECT_NEAR(beyond, 0.05, 5 * std::sqrt(0.05 * 0.95) * 1e-3);
  EXPECT_NEAR(neighbours, 0, 5e-3);
}

TEST(RandomNormal, NamesWhatIsWrong) {
  EXPECT_EQ(inference_error(make_op(RandomNormalOp({.shape = {4, 0}})), {f32({2})}, "noise"),
            "[random_normal 'noise'] expected a sample of positive dimensions; got (4, 0)");
}

}  // namespace
}  // namespace linnet::testing
