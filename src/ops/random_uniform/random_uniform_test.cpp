// SPDX-License-Identifier: Apache-2.0
#include "ops/random_uniform/random_uniform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(RandomUniform, AgreesWithTheReference) {
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{7}, {1}, {4}, {3, 5}}) {
    const OpPtr op = make_op(RandomUniformOp({.shape = shape, .stream = 3}));
    check({"random uniform", op, {f32({6, 2})}, {}, false});
    check({"random uniform no sample", op, {f32({0, 4})}, {}, false});
    OpCase rows{"random uniform rows", op, {f32({4})}};
    rows.gradient = false;
    rows.step.first_row = 1000;
    check(rows);
  }
  const OpPtr many = make_op(RandomUniformOp({.shape = {301}}));
  check({"random uniform many tasks", many, {f32({100, 3})}, {}, false});
}

std::vector<double> draw(std::int64_t stream, const StepInfo& step, std::int64_t rows,
                         std::int64_t size) {
  Graph graph;
  const Value x = graph.add_value("x", f32({rows}), Storage::external, 0);
  const Value y = graph.emit(RandomUniformOp({.shape = {size}, .stream = stream}), {x}, "noise");
  return run(graph, {x}, {std::vector<double>(static_cast<std::size_t>(rows))}, {y}, step)[0];
}

TEST(RandomUniform, SeedStepStreamAndRowChangeIt) {
  const std::vector<double> base = draw(0, {.seed = 1, .step = 2}, 3, 4);
  EXPECT_EQ(draw(0, {.seed = 1, .step = 2}, 3, 4), base);
  EXPECT_NE(draw(0, {.seed = 2, .step = 2}, 3, 4), base);
  EXPECT_NE(draw(0, {.seed = 1, .step = 3}, 3, 4), base);
  EXPECT_NE(draw(1, {.seed = 1, .step = 2}, 3, 4), base);
  EXPECT_NE(draw(0, {.seed = 1, .step = 2, .first_row = 1}, 3, 4), base);
}

/// Mean and variance of 10^6 numbers lie within five standard errors of a uniform distribution's.
TEST(RandomUniform, IsUniform) {
  const std::vector<double> x = draw(0, {.seed = 1}, 1000, 1000);
  const auto n = static_cast<double>(x.size());
  double mean = 0;
  double square = 0;
  double neighbours = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean += x[i] / n;
    square += (x[i] - 0.5) * (x[i] - 0.5) / n;
    neighbours += i > 0 ? (x[i] - 0.5) * (x[i - 1] - 0.5) / n : 0;
  }
  EXPECT_NEAR(mean, 0.5, 5 / std::sqrt(12 * n));
  EXPECT_NEAR(square, 1.0 / 12, 5 / std::sqrt(180 * n));
  EXPECT_NEAR(neighbours, 0, 5.0 / 12 / std::sqrt(n));
  EXPECT_GE(*std::ranges::min_element(x), 0);
  EXPECT_LT(*std::ranges::max_element(x), 1);
}

TEST(RandomUniform, NamesWhatIsWrong) {
  EXPECT_EQ(inference_error(make_op(RandomUniformOp({.shape = {4, 0}})), {f32({2})}, "noise"),
            "[random_uniform 'noise'] expected a sample of positive dims; got (4, 0)");
}

}  // namespace
}  // namespace linnet::testing
