// SPDX-License-Identifier: Apache-2.0
#include "runtime/constants.h"

#include <gtest/gtest.h>

#include <cstring>

namespace linnet {
namespace {

TEST(Constants, AreOneNumberOrTheirElements) {
  Graph graph;
  const Value filled = graph.add_constant({DType::i32, Shape{2}}, 7);
  const Value listed = graph.add_constant({0.5, -2, 1e9});
  EXPECT_EQ(graph.type(listed), (ValueType{DType::f32, Shape{3}}));
  const Plan plan = make_plan(graph, [](const Node&) { return std::size_t{0}; });
  const std::vector<std::byte> bytes = constant_bytes(plan);
  const auto at = [&](Value value) {
    return bytes.data() + plan.values[static_cast<std::size_t>(value.id)].offset;
  };
  const std::array<std::int32_t, 2> sevens{7, 7};
  EXPECT_EQ(std::memcmp(at(filled), sevens.data(), sizeof sevens), 0);
  const std::array<float, 3> numbers{0.5F, -2, 1e9F};
  EXPECT_EQ(std::memcmp(at(listed), numbers.data(), sizeof numbers), 0);
}

}  // namespace
}  // namespace linnet
