// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/passes.h"

#include <gtest/gtest.h>

#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"

namespace linnet {
namespace {

void nothing(Graph& /*graph*/, const Supports& /*supports*/) {}

std::vector<std::string_view> names(const Passes& passes) {
  std::vector<std::string_view> all;
  for (const Pass& pass : passes.of(Phase::forward)) all.push_back(pass.name);
  return all;
}

using Names = std::vector<std::string_view>;

TEST(PassOrder, FollowsFromWhatPassesSayThenFromNames) {
  Passes passes;
  passes.add(Phase::forward, {"clean", nothing, {.last = true}});
  passes.add(Phase::forward, {"a", nothing, {.after = {"c", "not there"}}});
  passes.add(Phase::forward, {"d", nothing, {.before = {"b"}}});
  passes.add(Phase::forward, {"b", nothing});
  passes.add(Phase::forward, {"c", nothing});
  EXPECT_EQ(names(passes), (Names{"c", "a", "d", "b", "clean"}));
}

TEST(PassOrder, AmongTheLastOnesNamesDecideToo) {
  Passes passes;
  passes.add(Phase::forward, {"z", nothing});
  passes.add(Phase::forward, {"b", nothing, {.last = true}});
  passes.add(Phase::forward, {"a", nothing, {.after = {"b"}, .last = true}});
  EXPECT_EQ(names(passes), (Names{"z", "b", "a"}));
}

TEST(PassOrder, PassesThatWaitForEachOtherAreABug) {
  Passes passes;
  passes.add(Phase::forward, {"a", nothing, {.after = {"b"}}});
  EXPECT_THROW(passes.add(Phase::forward, {"b", nothing, {.after = {"a"}}}), InternalError);
}

TEST(Passes, KnowNamesOfEveryPhaseAndOfChoices) {
  Passes passes;
  passes.add(Phase::final, {"a", nothing});
  passes.add(TrainingPass{"b", [](TrainingGraph&, const Supports&) {}});
  passes.add("c");
  EXPECT_TRUE(passes.has("a") && passes.has("b") && passes.has("c"));
  EXPECT_FALSE(passes.has("d"));
  EXPECT_EQ(passes.named("a").name, "a");
  EXPECT_THROW(static_cast<void>(passes.named("d")), Error);
  Graph graph;
  try {
    passes.run(Phase::forward, graph, {}, std::vector<std::string>{"d"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "unknown pass 'd'; expected one of b, a, c");
  }
}

/// y = 2 relu(x), which the pass writes as y = 2 tanh(x).
struct Doubled {
  Graph graph;
  Value x = graph.add_value("x", {DType::f32, {4}}, Storage::external, 0);
  Value other = graph.add_value("other", {DType::f32, {4}}, Storage::external, 1);

  Doubled() {
    const Value y = graph.emit(ActivationOp({Activation::relu}), {x}, "relu");
    const Value z = graph.emit(ScaleOp({.alpha = 2}), {y}, "scale");
    graph.info(z).storage = Storage::external;
    graph.info(z).offset = 2;
  }
};

Activation activation_of(const Graph& graph) {
  return dynamic_cast<const ActivationOp&>(*graph.nodes().front().op).attrs().kind;
}

TEST(Passes, WhatHasNoGradientIsUndoneWhereGradientsPass) {
  Passes passes;
  passes.add(Phase::forward,
             {.name = "write",
              .run =
                  [](Graph& graph, const Supports&) {
                    const std::vector<Value> in = graph.nodes()[0].inputs;
                    const std::vector<Value> out = graph.nodes()[0].outputs;
                    graph.rewrite(0,
                                  std::make_shared<ActivationOp>(ActivationAttrs{Activation::tanh}),
                                  in, out);
                  },
              .differentiable = false});
  Doubled by_x;
  passes.run(Phase::forward, by_x.graph, {}, {}, std::span(&by_x.x, 1));
  EXPECT_EQ(activation_of(by_x.graph), Activation::relu);
  Doubled by_other;
  passes.run(Phase::forward, by_other.graph, {}, {}, std::span(&by_other.other, 1));
  EXPECT_EQ(activation_of(by_other.graph), Activation::tanh);
  Doubled by_nothing;
  passes.run(Phase::forward, by_nothing.graph, {});
  EXPECT_EQ(activation_of(by_nothing.graph), Activation::tanh);
}

}  // namespace
}  // namespace linnet
