// SPDX-License-Identifier: Apache-2.0
#include "ops/softmax/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backend/cpu/exponential.h"
#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(Softmax, AgreesWithTheReference) {
  for (const OpPtr& op : {make_op(SoftmaxOp()), make_op(LogSoftmaxOp())}) {
    check({"softmax", op, {f32({3, 5})}, {{-3, 3}}});
    check({"softmax three axes", op, {f32({2, 3, 7})}, {{-3, 3}}});
    check({"softmax one class", op, {f32({4, 1})}});
    check({"softmax no sample", op, {f32({0, 4})}, {}, false});
    check({"softmax many tasks", op, {f32({700, 103})}, {{-8, 8}}, false});
    check({"softmax extreme", op, {f32({9, 11})}, {{-1e4, 1e4}}, false});
    check({"softmax long rows", op, {f32({5, 2500})}, {{-8, 8}}});
  }
  check({"log_softmax_grad of certainty",
         make_op(LogSoftmaxGradOp()),
         {f32({2, 3}), f32({2, 3})},
         {{-1, 1}, {-200, 0}},
         false});
}

TEST(Softmax, ANaNMakesItsRowNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const OpPtr& op : {make_op(SoftmaxOp()), make_op(LogSoftmaxOp())}) {
    Graph graph;
    const Value x = graph.add_value("x", f32({4, 3}), Storage::external, 0);
    const Value y = graph.add(op, {x}, "softmax")[0];
    compare_with_reference(graph, {x}, {{nan, 1, 2, 1, nan, 2, 1, 2, nan, 1, 2, 3}}, {y});
  }
}

TEST(Softmax, NamesTheLayerAndTheShape) {
  EXPECT_EQ(inference_error(make_op(SoftmaxOp()), {f32({})}, "probabilities"),
            "[softmax 'probabilities'] expected an f32 operand with a last axis of at least 1; got "
            "x=()");
  EXPECT_EQ(inference_error(make_op(SoftmaxOp()), {f32({3, 0})}, "probabilities"),
            "[softmax 'probabilities'] expected an f32 operand with a last axis of at least 1; got "
            "x=(3, 0)");
}

TEST(Exponential, IsExactToTwoUnitsInTheLastPlace) {
  double worst = 0;
  for (int i = 0; i <= 870000; ++i) {
    const float x = -static_cast<float>(i) * 1e-4F;
    const double expected = std::exp(static_cast<double>(x));
    const float near = static_cast<float>(expected);
    const double unit = std::nextafter(near, 2.0F) - near;
    worst = std::max(worst, std::abs(cpu::exp_nonpositive(x) - expected) / unit);
  }
  EXPECT_LE(worst, 2.0);
  EXPECT_EQ(cpu::exp_nonpositive(0.0F), 1.0F);
  EXPECT_EQ(cpu::exp_nonpositive(-1e30F), 0.0F);
  EXPECT_EQ(cpu::exp_nonpositive(-std::numeric_limits<float>::infinity()), 0.0F);
  EXPECT_TRUE(std::isnan(cpu::exp_nonpositive(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace linnet::testing
