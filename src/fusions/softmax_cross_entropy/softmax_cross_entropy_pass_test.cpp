// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "end_to_end/built_graph.h"
#include "end_to_end/step_operators.h"
#include "fusions/fusions.h"
#include "model/loss_graph.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/softmax/softmax.h"

namespace linnet::testing {
namespace {

TEST(SoftmaxCrossEntropyPass, ProbabilitiesThatAreReadBeforeTheLossStay) {
  Graph graph;
  const Value read = graph.emit(SoftmaxOp(), {product(graph)}, "softmax");
  const Value targets = graph.add_value("labels", {DType::i32, {4}}, Storage::external, 2);
  keep(graph, graph.emit(ScaleOp({.alpha = 2}), {read}, "scale"), 3);
  keep(graph,
       graph.emit(CrossEntropyOp({CrossEntropyInput::probabilities}), {read, targets}, "loss"), 4);
  all_passes().named("fuse_softmax_cross_entropy").run(graph, kEverything);
  graph.verify();
  EXPECT_EQ(operators(graph),
            (std::vector<std::string>{"dense", "softmax", "scale", "softmax_cross_entropy"}));
  Graph result;  // nobody reads them, but they are asked for
  const Value p = result.emit(SoftmaxOp(), {product(result)}, "softmax");
  const Value labels = result.add_value("labels", {DType::i32, {4}}, Storage::external, 2);
  keep(result, p, 3);
  keep(result, result.emit(CrossEntropyOp({CrossEntropyInput::probabilities}), {p, labels}, "loss"),
       4);
  all_passes().named("fuse_softmax_cross_entropy").run(result, kEverything);
  EXPECT_EQ(operators(result),
            (std::vector<std::string>{"dense", "softmax", "softmax_cross_entropy"}));
}

TEST(SoftmaxCrossEntropyPass, ALossOfTheWrongScoresIsNotFused) {
  Graph graph;
  const Value p = graph.emit(SoftmaxOp(), {product(graph)}, "softmax");
  const Value labels = graph.add_value("labels", {DType::i32, {4}}, Storage::external, 2);
  keep(graph,
       graph.emit(CrossEntropyOp({CrossEntropyInput::log_probabilities}), {p, labels}, "loss"), 3);
  all_passes().named("fuse_softmax_cross_entropy").run(graph, kEverything);
  EXPECT_EQ(operators(graph), (std::vector<std::string>{"dense", "softmax", "cross_entropy"}));
}

TEST(SoftmaxCrossEntropyPass, LogProbabilitiesThatAreReadAfterTheLossStay) {
  Graph graph;
  const Value scores = graph.emit(LogSoftmaxOp(), {product(graph)}, "scores");
  const Value labels = graph.add_value("labels", {DType::i32, {4}}, Storage::external, 2);
  keep(graph,
       graph.emit(CrossEntropyOp({CrossEntropyInput::log_probabilities}), {scores, labels}, "loss"),
       3);
  keep(graph, graph.emit(ScaleOp({.alpha = 2}), {scores}, "scale"), 4);
  all_passes().named("fuse_softmax_cross_entropy").run(graph, kEverything);
  EXPECT_EQ(operators(graph),
            (std::vector<std::string>{"dense", "log_softmax", "softmax_cross_entropy", "scale"}));
}

TEST(SoftmaxCrossEntropyPass, ALossOfScoresBecomesOneOperator) {
  Graph graph;
  const Value x = graph.add_value("x", {DType::f32, {4, 3}}, Storage::external, 0);
  const Value labels = graph.add_value("labels", {DType::i32, {4}}, Storage::external, 1);
  keep(graph, add_loss(graph, Loss::cross_entropy, {}, x, labels), 2);
  all_passes().run(Phase::forward, graph, kEverything);
  EXPECT_EQ(operators(graph), (std::vector<std::string>{"softmax_cross_entropy"}));
}

}  // namespace
}  // namespace linnet::testing
