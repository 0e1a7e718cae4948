// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/layers/bounding.h>
#include <linnet/network.h>

#include <limits>
#include <vector>

#include "graph/interpreter.h"
#include "message_of.h"
#include "nn/definition.h"

namespace linnet {
namespace {

using Numbers = std::vector<double>;
using testing::message_of;

/// Returns the layer's output for one sample.
Numbers bounded(const Bounding& layer, const Numbers& sample) {
  const Network network({static_cast<std::int64_t>(sample.size())}, {layer});
  const Network read = Network::from_json(network.to_json());
  const NetworkDefinition& definition = read.definition();
  Graph graph;
  std::vector<Value> parameters;
  const std::vector<Value> x = add_inputs(definition, graph, 1);
  const Value y = instantiate(definition, graph, x, 1, Mode::inference, parameters).front();
  Interpreter interpreter(graph);
  interpreter[x.front()].data = sample;
  interpreter.run({});
  return interpreter[y].data;
}

TEST(Bounding, KeepsEachOutputWithinItsOwnBounds) {
  EXPECT_EQ(bounded({.lower = {0, -1}, .upper = {1, 100}}, {-3, 120}), (Numbers{0, 100}));
  EXPECT_EQ(bounded({.lower = {0, -1}, .upper = {1, 100}}, {0.5, -2}), (Numbers{0.5, -1}));
  EXPECT_EQ(bounded({.lower = {-2}, .upper = {5, 7}}, {6, -6}), (Numbers{5, -2}));
}

TEST(Bounding, RefusesBoundsThatDoNotFit) {
  const auto refusal = [](const Bounding& layer) {
    return message_of([&] { Network({3}, {layer}); });
  };
  EXPECT_EQ(refusal({.lower = {0, 1}, .upper = {2}}),
            "[bounding 'bounding_1'] expected one lower bound, or 3 for (N, 3); got 2");
  EXPECT_EQ(refusal({.lower = {2}, .upper = {3, 1, 3}}),
            "[bounding 'bounding_1'] expected lower bounds not above the upper ones; got 2 and 1");
  EXPECT_EQ(refusal({.lower = {0}, .upper = {std::numeric_limits<double>::infinity()}}),
            "[bounding 'bounding_1'] expected finite bounds; got inf");
  EXPECT_EQ(refusal({.lower = {0}}),
            "[bounding 'bounding_1'] expected one upper bound, or 3 for (N, 3); got 0");
}

}  // namespace
}  // namespace linnet
