// SPDX-License-Identifier: Apache-2.0
#include "ops/all_reduce/all_reduce.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

/// Two arrays that are handed over one after the other.
std::vector<std::vector<double>> run_with(std::shared_ptr<StepExchange> exchange) {
  Graph graph;
  const Value a = graph.add_value("a", f32({3}), Storage::external, 0);
  const Value b = graph.add_value("b", f32({2}), Storage::external, 1);
  graph.add(make_op(AllReduceOp()), {b}, "gradients");
  graph.add(make_op(AllReduceOp()), {a}, "gradients");
  return run(graph, {a, b}, {{1, 2, 3}, {4, 5}}, {a, b}, {}, std::move(exchange));
}

TEST(AllReduce, HandsItsArraysOverInTheirOrder) {
  const auto exchange = std::make_shared<StepExchange>();
  std::vector<std::size_t> taken;
  exchange->take_gradients = [&](std::span<float> values) {
    taken.push_back(values.size());
    for (float& value : values) value *= 2;  // as if another rank had the same
  };
  EXPECT_EQ(run_with(exchange), (std::vector<std::vector<double>>{{2, 4, 6}, {8, 10}}));
  EXPECT_EQ(taken, (std::vector<std::size_t>{2, 3}));
}

TEST(AllReduce, LeavesWhatNobodyTakes) {
  const std::vector<std::vector<double>> expected{{1, 2, 3}, {4, 5}};
  EXPECT_EQ(run_with(nullptr), expected);
  EXPECT_EQ(run_with(std::make_shared<StepExchange>()), expected);
}

TEST(AllReduce, NamesTheTypes) {
  EXPECT_EQ(inference_error(make_op(AllReduceOp()), {i32({4})}),
            "[all_reduce 'layer'] expected an f32 array and f32 parts of it; got sums=(4)");
}

}  // namespace
}  // namespace linnet::testing
