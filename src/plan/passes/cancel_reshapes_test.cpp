// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/cancel_reshapes.h"

#include <gtest/gtest.h>

#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/bias_add/bias_add.h"
#include "ops/reshape/reshape.h"

namespace linnet {
namespace {

/// scale (4, 1, 6, 5) -> reshape -> what a test adds on (4, 6, 5) -> reshape back -> scale.
class CancelReshapes : public ::testing::Test {
 protected:
  Value begin() {
    const Value x = graph_.add_value("x", {DType::f32, {4, 1, 6, 5}}, Storage::external, 0);
    return reshaped(graph_.emit(ScaleOp({.alpha = 2}), {x}, "before"), {-1, 6, 5});
  }
  Value reshaped(Value x, std::vector<std::int64_t> shape) {
    return graph_.emit(ReshapeOp({.shape = std::move(shape)}), {x}, "reshape");
  }
  Value result(Value x) {
    const Value y = graph_.emit(ScaleOp({.alpha = 3}), {x}, "after");
    graph_.info(y).storage = Storage::external;
    graph_.info(y).offset = 2;
    return y;
  }
  Value relu(Value x) { return graph_.emit(ActivationOp({Activation::relu}), {x}, "relu"); }
  /// The operators that are left.
  std::vector<std::string> run() {
    cancel_reshapes(graph_, {});
    graph_.verify();
    std::vector<std::string> names;
    for (const Node& node : graph_.nodes()) names.emplace_back(node.op->name());
    return names;
  }
  using Names = std::vector<std::string>;

  Graph graph_;
};

TEST_F(CancelReshapes, OperatorsOfElementsAndChannelsComputeInTheShapeBefore) {
  const Value b = graph_.add_value("b", {DType::f32, {5}}, Storage::external, 1);
  const Value y = relu(graph_.emit(BiasAddOp(), {begin(), b}, "bias"));
  result(reshaped(y, {-1, 1, 6, 5}));
  EXPECT_EQ(run(), (Names{"scale", "bias_add", "activation", "scale"}));
  EXPECT_EQ(graph_.shape(graph_.nodes()[2].outputs.front()), (Shape{4, 1, 6, 5}));
}

TEST_F(CancelReshapes, OthersKeepTheirShape) {
  result(reshaped(relu(begin()), {-1, 5, 6}));  // not the shape before
  EXPECT_EQ(run(), (Names{"scale", "reshape", "activation", "reshape", "scale"}));
}

TEST_F(CancelReshapes, WhatOthersReadKeepsItsShape) {
  const Value y = relu(begin());
  result(reshaped(y, {-1, 1, 6, 5}));
  const Value other = relu(y);
  graph_.info(other).storage = Storage::external;
  graph_.info(other).offset = 3;
  EXPECT_EQ(run(), (Names{"scale", "reshape", "activation", "reshape", "scale", "activation"}));
}

TEST_F(CancelReshapes, ABiasOfOtherChannelsKeepsItsShape) {
  const Value x = graph_.add_value("x", {DType::f32, {4, 30}}, Storage::external, 0);
  const Value b = graph_.add_value("b", {DType::f32, {5}}, Storage::external, 1);
  const Value before = graph_.emit(ScaleOp({.alpha = 2}), {x}, "before");
  const Value y = graph_.emit(BiasAddOp(), {reshaped(before, {-1, 6, 5}), b}, "bias");
  result(reshaped(y, {-1, 30}));
  EXPECT_EQ(run(), (Names{"scale", "reshape", "bias_add", "reshape", "scale"}));
}

}  // namespace
}  // namespace linnet
