// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/overlap_sums.h"

#include <gtest/gtest.h>

#include "fake_op.h"
#include "ops/all_reduce/all_reduce.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

using testing::add_fake_one;
using testing::floats;

/// Adds a gradient of 8 floats at place `place`, counted in gradients.
Value add_gradient(Graph& graph, Value from, std::size_t place) {
  const Value made = add_fake_one(graph, {}, {from}, "gradient " + std::to_string(place));
  graph.info(made).storage = Storage::gradient;
  graph.info(made).offset = 64 * place;
  return made;
}

std::string names(const Graph& graph) {
  std::string all;
  for (const Node& node : graph.nodes()) {
    const bool reduces = op_as<AllReduceOp>(&node) != nullptr;
    all += reduces ? std::to_string(graph.info(node.inputs.front()).offset / 64)
                   : node.name.substr(0, 1);
  }
  return all;
}

TEST(OverlapSums, HandsEachBucketOverOnceItIsComplete) {
  Graph graph;
  const Value x = graph.add_value("x", floats(8), Storage::external);
  for (const std::size_t place : {3, 2, 1, 0}) {
    add_fake_one(graph, {}, {x}, "other");
    add_gradient(graph, x, place);
  }
  overlap_sums(graph, std::vector<Bucket>{{192, 256}, {64, 192}, {0, 64}});
  graph.verify();
  EXPECT_EQ(names(graph), "og3ogog1og0");
}

TEST(OverlapSums, KeepsTheOrderOfBuckets) {
  Graph graph;
  const Value x = graph.add_value("x", floats(8), Storage::external);
  for (const std::size_t place : {0, 2, 1}) add_gradient(graph, x, place);
  // Nothing writes to the bucket at 3.
  overlap_sums(graph, std::vector<Bucket>{{192, 256}, {128, 192}, {64, 128}, {0, 64}});
  graph.verify();
  EXPECT_EQ(names(graph), "g3g2g10");
}

}  // namespace
}  // namespace linnet
