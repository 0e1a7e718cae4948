// SPDX-License-Identifier: Apache-2.0
#include "ops/cross_entropy/cross_entropy.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(CrossEntropy, AgreesWithTheReference) {
  for (CrossEntropyInput input :
       {CrossEntropyInput::log_probabilities, CrossEntropyInput::probabilities}) {
    const OpPtr op = make_op(CrossEntropyOp({input}));
    const Fill scores = input == CrossEntropyInput::probabilities ? Fill{0.1, 1} : Fill{-5, 0};
    check({"cross_entropy", op, {f32({5, 3}), i32({5})}, {scores, {0, 3}}});
    check({"cross_entropy batch 1", op, {f32({1, 7}), i32({1})}, {scores, {0, 7}}});
    check({"cross_entropy one class", op, {f32({4, 1}), i32({4})}, {scores, {0, 1}}});
    check({"cross_entropy no sample", op, {f32({0, 3}), i32({0})}, {scores}, false});
    check(
        {"cross_entropy many tasks", op, {f32({40000, 3}), i32({40000})}, {scores, {0, 3}}, false});
  }
}

TEST(CrossEntropy, GradientAtManyTasks) {
  check({"cross_entropy_grad",
         make_op(CrossEntropyGradOp()),
         {f32({}), f32({9000, 33}), i32({9000})},
         {{-1, 1}, {-5, 0}, {0, 33}},
         false});
  check({"cross_entropy_grad of long rows",
         make_op(CrossEntropyGradOp({CrossEntropyInput::probabilities})),
         {f32({}), f32({3, 2500}), i32({3})},
         {{-1, 1}, {0.1, 1}, {0, 2500}},
         false});
}

TEST(CrossEntropy, ALabelOutsideGivesNaNAndReadsNothingElse) {
  Graph graph;
  const Value scores = graph.add_value("scores", f32({2, 3}), Storage::external, 0);
  const Value labels = graph.add_value("labels", i32({2}), Storage::external, 1);
  const Value loss = graph.emit(CrossEntropyOp(), {scores, labels}, "loss");
  for (double label : {-1.0, 3.0, 2147483647.0, -2147483648.0}) {
    const std::vector<std::vector<double>> data{{-1, -2, -3, -1, -2, -3}, {0, label}};
    EXPECT_TRUE(std::isnan(run(graph, {scores, labels}, data, {loss})[0][0]));
    compare_with_reference(graph, {scores, labels}, data, {loss});
  }
}

double reference_loss(double label) {
  ReferenceTensor scores{{1, 3}, {-1, -2, -3}};
  ReferenceTensor labels{{1}, {label}};
  ReferenceTensor loss{{}, {0}};
  const std::array<ReferenceTensor*, 2> inputs{&scores, &labels};
  const std::array<ReferenceTensor*, 1> outputs{&loss};
  CrossEntropyOp().reference({inputs, outputs, {}});
  return loss.data[0];
}

TEST(CrossEntropy, ALabelOutsideGivesNoGradientAndWritesNothingElse) {
  Graph graph;
  const Value dloss = graph.add_value("dloss", f32({}), Storage::external, 0);
  const Value scores = graph.add_value("scores", f32({2, 3}), Storage::external, 1);
  const Value labels = graph.add_value("labels", i32({2}), Storage::external, 2);
  const Value dx = graph.emit(CrossEntropyGradOp(), {dloss, scores, labels}, "loss");
  for (double label : {-1.0, 3.0, 2147483647.0, -2147483648.0}) {
    const std::vector<std::vector<double>> data{{1}, {-1, -2, -3, -1, -2, -3}, {label, 1}};
    EXPECT_EQ(run(graph, {dloss, scores, labels}, data, {dx})[0],
              (std::vector<double>{0, 0, 0, 0, -0.5, 0}));
    compare_with_reference(graph, {dloss, scores, labels}, data, {dx});
    EXPECT_TRUE(std::isnan(reference_loss(label)));
  }
}

TEST(CrossEntropy, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(CrossEntropyOp()), {f32({8, 5}), i32({7})}, "loss"),
            "[cross_entropy 'loss'] expected scores (N, C) and i32 labels (N); got scores=f32 (8, "
            "5), labels=i32 (7)");
}

TEST(SoftmaxCrossEntropy, AgreesWithTheReference) {
  const OpPtr op = make_op(SoftmaxCrossEntropyOp());
  check({"softmax_cross_entropy", op, {f32({5, 3}), i32({5})}, {{-3, 3}, {0, 3}}});
  check({"softmax_cross_entropy batch 1", op, {f32({1, 10}), i32({1})}, {{-3, 3}, {0, 10}}});
  check({"softmax_cross_entropy one class", op, {f32({3, 1}), i32({3})}, {{-3, 3}, {0, 1}}});
  check({"softmax_cross_entropy no sample", op, {f32({0, 4}), i32({0})}, {}, false});
  check({"softmax_cross_entropy many tasks",
         op,
         {f32({3000, 37}), i32({3000})},
         {{-8, 8}, {0, 37}},
         false});
  check({"softmax_cross_entropy extreme",
         op,
         {f32({50, 4}), i32({50})},
         {{-1e5, 1e5}, {0, 4}},
         false});
  // On CUDA: a block's rows at once and after another, two stages, a block for each row.
  check({"softmax_cross_entropy small", op, {f32({1000, 10}), i32({1000})}, {{-8, 8}, {0, 10}}});
  check({"softmax_cross_entropy 100", op, {f32({100, 100}), i32({100})}, {{-8, 8}, {0, 100}}});
  check({"softmax_cross_entropy large",
         op,
         {f32({5000, 10}), i32({5000})},
         {{-8, 8}, {0, 10}},
         false});
  check({"softmax_cross_entropy long rows", op, {f32({5, 2500}), i32({5})}, {{-8, 8}, {0, 2500}}});
  check({"softmax_cross_entropy_grad many tasks",
         make_op(SoftmaxCrossEntropyGradOp()),
         {f32({3000, 37}), i32({3000}), f32({})},
         {{0, 1}, {0, 37}, {-1, 1}},
         false});
}

TEST(SoftmaxCrossEntropy, ALabelOutsideGivesNaN) {
  Graph graph;
  const Value logits = graph.add_value("logits", f32({2, 3}), Storage::external, 0);
  const Value labels = graph.add_value("labels", i32({2}), Storage::external, 1);
  const Value loss = graph.add(make_op(SoftmaxCrossEntropyOp()), {logits, labels}, "loss")[0];
  for (double label : {-1.0, 3.0, 2147483647.0, -2147483648.0}) {
    const std::vector<std::vector<double>> data{{1, 2, 3, 1, 2, 3}, {0, label}};
    EXPECT_TRUE(std::isnan(run(graph, {logits, labels}, data, {loss})[0][0]));
    compare_with_reference(graph, {logits, labels}, data, {loss});
  }
}

TEST(SoftmaxCrossEntropy, TheGradientOfALabelOutsideWritesNothingElse) {
  Graph graph;
  const Value p = graph.add_value("p", f32({2, 2}), Storage::external, 0);
  const Value labels = graph.add_value("labels", i32({2}), Storage::external, 1);
  const Value dloss = graph.add_value("dloss", f32({}), Storage::external, 2);
  const Value dx = graph.emit(SoftmaxCrossEntropyGradOp(), {p, labels, dloss}, "loss");
  for (double label : {-1.0, 2.0, 2147483647.0, -2147483648.0}) {
    const std::vector<std::vector<double>> data{{0.5, 0.5, 0.5, 0.5}, {label, 1}, {1}};
    EXPECT_EQ(run(graph, {p, labels, dloss}, data, {dx})[0],
              (std::vector<double>{0.25, 0.25, 0.25, -0.25}));
    compare_with_reference(graph, {p, labels, dloss}, data, {dx});
  }
}

TEST(SoftmaxCrossEntropy, ANaNLogitGivesNaN) {
  Graph graph;
  const Value logits = graph.add_value("logits", f32({1, 3}), Storage::external, 0);
  const Value labels = graph.add_value("labels", i32({1}), Storage::external, 1);
  const Value loss = graph.add(make_op(SoftmaxCrossEntropyOp()), {logits, labels}, "loss")[0];
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& row : std::vector<std::vector<double>>{{nan, 2, 3}, {1, nan, 3}, {1, 2, nan}}) {
    EXPECT_TRUE(std::isnan(run(graph, {logits, labels}, {row, {0}}, {loss})[0][0]));
    compare_with_reference(graph, {logits, labels}, {row, {0}}, {loss});
  }
}

TEST(SoftmaxCrossEntropy, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(SoftmaxCrossEntropyOp()), {f32({8, 5}), f32({8})}, "loss"),
            "[softmax_cross_entropy 'loss'] expected scores (N, C) and i32 labels (N); got "
            "scores=f32 (8, 5), labels=f32 (8)");
}

}  // namespace
}  // namespace linnet::testing
