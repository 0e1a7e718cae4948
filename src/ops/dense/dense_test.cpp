// SPDX-License-Identifier: Apache-2.0
#include "ops/dense/dense.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "op_backends.h"
#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(Dense, AgreesWithTheReference) {
  const auto dense = [](DenseAttrs attrs = {}) { return make_op(DenseOp(attrs)); };
  check({"dense", dense(), {f32({5, 7}), f32({3, 7})}});
  check({"dense batch 1", dense(), {f32({1, 33}), f32({17, 33})}});
  check({"dense one unit", dense(), {f32({9, 4}), f32({1, 4})}});
  check({"dense no sample", dense(), {f32({0, 4}), f32({2, 4})}, {}, false});
  check({"dense many tasks", dense(), {f32({257, 96}), f32({130, 96})}, {}, false});
  check({"dense bias", dense({.bias = true}), {f32({4, 6}), f32({5, 6}), f32({5})}});
  for (Activation a : {Activation::relu, Activation::tanh, Activation::sigmoid}) {
    check({"dense bias activation",
           dense({.bias = true, .activation = a}),
           {f32({6, 5}), f32({4, 5}), f32({4})}});
  }
  // Few units have loops of their own: whole vectors and rests, blocks of rows and units and rests.
  for (std::int64_t units : {1, 2, 3, 5, 10, 11, 32, 33}) {
    for (std::int64_t features : {1, 3, 16, 45}) {
      check({"dense thin", dense(), {f32({7, features}), f32({units, features})}, {}, units <= 11});
      check({"dense thin few rows",
             dense(),
             {f32({3, features}), f32({units, features})},
             {},
             false});
      check({"dense thin turned",
             dense({.bias = true, .activation = Activation::relu}),
             {f32({131, features}), f32({units, features}), f32({units})},
             {},
             false});
      check({"dense_grad_input thin, few features",
             make_op(DenseGradInputOp()),
             {f32({131, units}), f32({units, features})},
             {},
             false});
      check({"dense_grad_weight thin, few features",
             make_op(DenseGradWeightOp()),
             {f32({131, units}), f32({131, features})},
             {},
             false});
    }
    check({"dense thin many tasks", dense(), {f32({131, 603}), f32({units, 603})}, {}, false});
    check({"dense_grad_input thin",
           make_op(DenseGradInputOp()),
           {f32({131, units}), f32({units, 603})},
           {},
           false});
    check({"dense_grad_weight thin",
           make_op(DenseGradWeightOp()),
           {f32({131, units}), f32({131, 603})},
           {},
           false});
  }
  check({"dense bias gelu",
         dense({.bias = true, .activation = Activation::gelu}),
         {f32({6, 5}), f32({4, 5}), f32({4})},
         {},
         false});
  check({"dense large values", dense(), {f32({3, 8}), f32({2, 8})}, {{-1e15, 1e15}}, false});
}

/// A batch, its first rows and each row alone.
TEST(Dense, ARowOfFewFeaturesHasTheSameBitsInAnyBatch) {
  for (const auto& [features, units] :
       {std::pair<std::int64_t, std::int64_t>{2, 5}, {13, 10}, {31, 32}}) {
    const auto rows = [&](std::int64_t first, std::int64_t count) {
      Graph graph;
      const Value x = graph.add_value("x", f32({count, features}), Storage::external, 0);
      const Value w = graph.add_value("w", f32({units, features}), Storage::external, 1);
      const Value y = graph.emit(DenseOp(), {x, w}, "dense");
      std::vector<std::vector<double>> data(2);
      for (std::int64_t i = 0; i < count * features; ++i) {
        data[0].push_back(std::sin(static_cast<double>(first * features + i)));
      }
      for (std::int64_t i = 0; i < units * features; ++i) {
        data[1].push_back(std::cos(static_cast<double>(3 * i)));
      }
      return run(graph, {x, w}, data, {y})[0];
    };
    const std::vector<double> all = rows(0, 140);
    for (const std::int64_t count : {1, 2, 3, 5, 70}) {
      for (std::int64_t first = 0; first + count <= 140; first += 23) {
        const std::vector<double> some = rows(first, count);
        EXPECT_TRUE(
            std::ranges::equal(some, std::span(all).subspan(static_cast<std::size_t>(first * units),
                                                            some.size())))
            << features << " features, rows from " << first;
      }
    }
  }
}

TEST(Dense, ReadsTheWeightsInOrderForOneRow) {
  for (std::int64_t features : {9, 603}) {
    for (std::int64_t units : {33, 60, 1001}) {  // the last in several tasks
      check({"dense one row",
             make_op(DenseOp({.bias = true, .activation = Activation::tanh})),
             {f32({1, features}), f32({units, features}), f32({units})},
             {},
             false});
    }
  }
}

TEST(Dense, PacksTheWeightsForManyRows) {
  check({"dense panels",
         make_op(DenseOp({.bias = true, .activation = Activation::tanh})),
         {f32({773, 40}), f32({45, 40}), f32({45})},
         {},
         false});
  check({"dense_grad_input panels",
         make_op(DenseGradInputOp()),
         {f32({773, 45}), f32({45, 70})},
         {},
         false});
}

TEST(Dense, GradientsAtManyTasks) {
  check({"dense_grad_input",
         make_op(DenseGradInputOp()),
         {f32({257, 130}), f32({130, 96})},
         {},
         false});
  check({"dense_grad_weight wide",
         make_op(DenseGradWeightOp()),
         {f32({257, 96}), f32({257, 130})},
         {},
         false});
  check({"dense_grad_weight tall",
         make_op(DenseGradWeightOp()),
         {f32({257, 130}), f32({257, 96})},
         {},
         false});
}

/// Worked by hand: 1 + 2^-9 is 1 in bf16, and the bias is not rounded.
TEST(Dense, Bf16RoundsItsOperandsAndNotItsBias) {
  const double bit = std::ldexp(1.0, -9);
  Graph graph;
  const Value x = graph.add_value("x", f32({1, 2}), Storage::external, 0);
  const Value w = graph.add_value("w", f32({1, 2}), Storage::external, 1);
  const Value b = graph.add_value("b", f32({1}), Storage::external, 2);
  const Value y = graph.emit(DenseOp({.bias = true}), {x, w, b}, "dense");
  const std::vector<std::vector<double>> data{{1 + bit, 3}, {1 - bit / 4, 5 * (1 + bit)}, {bit}};
  const auto run_on = [&](const TestedDevice& device) {
    return run(*device.backends[0], graph, {x, w, b}, data, {y}, {}, true)[0][0];
  };
  for (const TestedDevice& device : tested_cpus_in_bf16()) {
    EXPECT_EQ(run_on(device), 16 + bit) << device.name;
  }
  EXPECT_GT(run_on(tested_cpu()), 16.03);
}

TEST(Dense, ItsActivationKeepsNaN) {
  Graph graph;
  const Value x = graph.add_value("x", f32({1, 2}), Storage::external, 0);
  const Value w = graph.add_value("w", f32({1, 2}), Storage::external, 1);
  const Value y = graph.emit(DenseOp({.activation = Activation::relu}), {x, w}, "dense");
  EXPECT_TRUE(std::isnan(run(graph, {x, w}, {{std::nan(""), 1}, {1, 1}}, {y})[0][0]));
}

TEST(Dense, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(DenseOp()), {f32({8, 5}), f32({3, 4})}, "head"),
            "[dense 'head'] expected 4 input features; got x=(8, 5), w=(3, 4)");
  EXPECT_EQ(inference_error(make_op(DenseOp({.bias = true})), {f32({8, 4}), f32({3, 4}), f32({4})},
                            "head"),
            "[dense 'head'] expected a bias of 3 units; got x=(8, 4), w=(3, 4), b=(4)");
  EXPECT_EQ(inference_error(make_op(DenseGradInputOp()), {f32({8, 5}), f32({3, 4})}, "head"),
            "[dense_grad_input 'head'] expected dz (N, units) and w (units, features); got dz=(8, "
            "5), w=(3, 4)");
}

}  // namespace
}  // namespace linnet::testing
