// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <linnet/layers/dense.h>
#include <linnet/layers/piecewise_linear.h>
#include <linnet/network.h>

#include <limits>
#include <string>
#include <vector>

#include "graph/interpreter.h"
#include "message_of.h"
#include "nn/definition.h"
#include "nn/layer_types.h"

namespace linnet {
namespace {

using testing::message_of;

/// Returns what a network of one input computes from one sample, in double precision.
std::vector<double> result_of(const Network& network, const std::vector<double>& sample) {
  const NetworkDefinition& definition = network.definition();
  Graph graph;
  std::vector<Value> parameters;
  const std::vector<Value> x = add_inputs(definition, graph, 1);
  const Value y = instantiate(definition, graph, x, 1, Mode::inference, parameters).front();
  Interpreter interpreter(graph);
  interpreter[x.front()].data = sample;
  interpreter.run({});
  return interpreter[y].data;
}

TEST(PiecewiseLinear, SaysHowFarANumberLiesInEachBin) {
  const PiecewiseLinear layer{.bins = 2, .edges = {-1, 0, 4, 10, 20, 20}};
  const Network network({2}, {layer});
  EXPECT_EQ(network.output_shape(), (Shape{4}));
  using Numbers = std::vector<double>;
  EXPECT_EQ(result_of(network, {-0.25, 15}), (Numbers{0.75, 0, 0.5, 0}));
  EXPECT_EQ(result_of(network, {1, 20}), (Numbers{1, 0.25, 1, 0}));
  EXPECT_EQ(result_of(network, {-7, 99}), (Numbers{0, 0, 1, 0}));  // no width: no bin
}

TEST(PiecewiseLinear, StandsInModelFiles) {
  EXPECT_NE(layer_types().find("piecewise_linear"), nullptr);
  const Network network({1},
                        {PiecewiseLinear{.bins = 2, .edges = {-1, 0.1, 3}}, Dense{.units = 2}});
  const Network read = Network::from_json(network.to_json());
  EXPECT_EQ(read.to_json(), network.to_json());
  EXPECT_EQ(network.parameters(), 6);  // of the dense layer alone
  const Network replaced = read.with_head("dense_1", Dense{.units = 3});
  EXPECT_EQ(replaced.output_shape(), (Shape{3}));
  EXPECT_EQ(Network::from_json(replaced.to_json()).to_json(), replaced.to_json());
}

TEST(PiecewiseLinear, RefusesEdgesThatAreNoBins) {
  const auto refusal = [](PiecewiseLinear layer, const Shape& sample) {
    return message_of([&] { Network(sample, {layer}); });
  };
  EXPECT_EQ(refusal({.bins = 0, .edges = {1}}, {1}),
            "[piecewise_linear 'piecewise_linear_1'] expected bins to be at least 1; got 0");
  EXPECT_EQ(refusal({.bins = 2, .edges = {1, 2, 3}}, {2}),
            "[piecewise_linear 'piecewise_linear_1'] expected 6 edges, 3 for each of 2 features; "
            "got 3");
  EXPECT_EQ(refusal({.bins = 2, .edges = {1, 0, 3}}, {1}),
            "[piecewise_linear 'piecewise_linear_1'] expected ascending edges; got 0 after 1");
  EXPECT_EQ(refusal({.bins = 1, .edges = {1, std::numeric_limits<double>::infinity()}}, {1}),
            "[piecewise_linear 'piecewise_linear_1'] expected finite edges; got inf");
  EXPECT_EQ(refusal({.bins = 1, .edges = {1, 2}}, {3, 1}),
            "[piecewise_linear 'piecewise_linear_1'] expected samples of one axis; got (N, 3, 1)");
}

TEST(PiecewiseLinear, QuantilesAreItsEdges) {
  // The first feature goes from 0 to 8, the second has three values.
  std::vector<float> numbers;
  for (int i = 0; i < 9; ++i) {
    numbers.insert(numbers.end(), {static_cast<float>((i * 5) % 9), static_cast<float>(i % 3)});
  }
  const PiecewiseLinear layer = quantile_bins(Tensor(numbers, {9, 2}), 4);
  EXPECT_EQ(layer.bins, 4);
  EXPECT_EQ(layer.edges, (std::vector<double>{0, 2, 4, 6, 8, 0, 1, 2, 2, 2}));
  // Most of them 0: the bins that have a width are where the others lie.
  const PiecewiseLinear zeros =
      quantile_bins(Tensor(std::vector<float>{0, 0, 0, 0, 0, 0, 1, 2, 3}, {9, 1}), 2);
  EXPECT_EQ(zeros.edges, (std::vector<double>{0, 3, 3}));
  EXPECT_EQ(message_of([] {
              quantile_bins(Tensor(std::vector<float>{1, 2}, {2, 1}), 0);
            }),
            "expected at least one bin; got 0");
  EXPECT_EQ(message_of([] {
              quantile_bins(Tensor(std::vector<float>{1, 2}, {2}), 1);
            }),
            "expected samples (N, features) of f32 for the edges of bins; got f32 (2)");
}

}  // namespace
}  // namespace linnet
