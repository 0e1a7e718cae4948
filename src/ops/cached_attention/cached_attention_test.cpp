// SPDX-License-Identifier: Apache-2.0
#include "ops/cached_attention/cached_attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "op_harness.h"

namespace linnet::testing {
namespace {

struct CacheShape {
  std::int64_t samples, heads, size, steps;
};

std::vector<ValueType> cached_operands(const CacheShape& of) {
  const ValueType one = f32({of.samples, of.heads, 1, of.size});
  return {one,
          one,
          one,
          f32({of.samples, of.heads, of.size, of.steps}),
          f32({of.samples, of.heads, of.steps, of.size}),
          i32({1})};
}

OpCase cached_case(const std::string& name, const CacheShape& of, double position,
                   double largest = 2) {
  const Fill fill{-largest, largest};
  return {name,
          make_op(CachedAttentionOp()),
          cached_operands(of),
          {fill, fill, fill, fill, fill, {position, position + 1}},
          false};
}

TEST(CachedAttention, AgreesWithTheReference) {
  for (const double position : {0, 1, 6, 10}) {
    check(cached_case("cached attention", {2, 3, 5, 11}, position));
  }
  check(cached_case("cached attention one", {1, 1, 1, 1}, 0));
  check(cached_case("cached attention no sample", {0, 2, 4, 5}, 2));
  check(cached_case("cached attention large scores", {1, 2, 8, 9}, 8, 6));
  check(cached_case("cached attention many tasks", {3, 8, 32, 128}, 100));
}

TEST(CachedAttention, IsNaNOutsideItsCaches) {
  for (const double position : {-1, 11}) {
    Graph graph;
    std::vector<Value> inputs;
    std::vector<std::vector<double>> data;
    for (const ValueType& type : cached_operands({1, 1, 2, 11})) {
      inputs.push_back(graph.add_value("x", type, Storage::external, inputs.size()));
      data.emplace_back(static_cast<std::size_t>(type.shape.elements()), 1.0);
    }
    data.back() = {position};
    const Value y = graph.add(make_op(CachedAttentionOp()), inputs, "attention").front();
    const auto found = run(graph, inputs, data, {y, inputs[CachedAttentionOp::In::keys]});
    EXPECT_TRUE(std::isnan(found[0][0]));
    EXPECT_EQ(found[1], data[CachedAttentionOp::In::keys]);
  }
}

TEST(CachedAttention, NamesItsOperands) {
  std::vector<ValueType> operands = cached_operands({1, 2, 4, 5});
  operands.front() = f32({1, 2, 2, 4});
  EXPECT_EQ(inference_error(make_op(CachedAttentionOp()), operands),
            "[cached_attention 'layer'] expected q, k and v f32 (N, heads, 1, size), keys (N, "
            "heads, size, T), values (N, heads, T, size) and a position i32 (1); got q=(1, 2, 2, "
            "4), k=(1, 2, 1, 4), v=(1, 2, 1, 4), keys=(1, 2, 4, 5), values=(1, 2, 5, 4), "
            "position=(1)");
}

}  // namespace
}  // namespace linnet::testing
