// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "end_to_end/built_graph.h"
#include "end_to_end/step_operators.h"
#include "fusions/fusions.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/bias_add/bias_add.h"

namespace linnet::testing {
namespace {

TEST(EpiloguePass, WhatOthersReadIsNotFused) {
  Graph twice;
  const Value z = product(twice);
  keep(twice, twice.emit(ActivationOp({Activation::relu}), {z}, "relu"), 2);
  keep(twice, twice.emit(ScaleOp({.alpha = 2}), {z}, "scale"), 3);
  all_passes().named("fuse_epilogue").run(twice, kEverything);
  EXPECT_EQ(operators(twice), (std::vector<std::string>{"dense", "activation", "scale"}));
  Graph result;
  const Value y = product(result);
  keep(result, y, 2);
  keep(result, result.emit(ActivationOp({Activation::relu}), {y}, "relu"), 3);
  all_passes().named("fuse_epilogue").run(result, kEverything);
  EXPECT_EQ(operators(result), (std::vector<std::string>{"dense", "activation"}));
}

TEST(EpiloguePass, ABiasAfterAnActivationIsNotFused) {
  Graph graph;
  const Value y = graph.emit(ActivationOp({Activation::relu}), {product(graph)}, "relu");
  const Value b = graph.add_value("b", {DType::f32, {5}}, Storage::external, 2);
  keep(graph, graph.emit(BiasAddOp(), {y, b}, "bias"), 3);
  all_passes().named("fuse_epilogue").run(graph, kEverything);
  EXPECT_EQ(operators(graph), (std::vector<std::string>{"dense", "bias_add"}));
}

TEST(EpiloguePass, WhatNeedsItsInputForTheGradientIsFusedAtInference) {
  Graph graph;
  keep(graph, graph.emit(ActivationOp({Activation::gelu}), {product(graph)}, "gelu"), 2);
  all_passes().run(Phase::forward, graph, kEverything);
  EXPECT_EQ(operators(graph), (std::vector<std::string>{"dense", "activation"}));
  all_passes().run(Phase::inference, graph, kEverything);
  EXPECT_EQ(operators(graph), (std::vector<std::string>{"dense"}));
}

TEST(EpiloguePass, ABackendWithoutAnEpilogueGetsItsParts) {
  Graph graph;
  keep(graph, graph.emit(ActivationOp({Activation::relu}), {product(graph)}, "relu"), 2);
  all_passes()
      .named("fuse_epilogue")
      .run(graph,
           [](const Op&, std::span<const ValueType>, std::span<const ValueType>) { return false; });
  EXPECT_EQ(operators(graph), (std::vector<std::string>{"dense", "activation"}));
}

}  // namespace
}  // namespace linnet::testing
