// SPDX-License-Identifier: Apache-2.0
#include "ops/custom/custom.h"

#include <gtest/gtest.h>

#include "op_harness.h"
#include "ops/custom/sum_and_difference_test.h"

namespace linnet::testing {
namespace {

OpPtr custom(std::shared_ptr<const CustomOperator> own) {
  return std::make_shared<CustomOp>(std::move(own), std::vector<std::int64_t>{1, 1}, nullptr);
}

TEST(Custom, TheCpuRunsItsStages) {
  Graph graph;
  const Value a = graph.add_value("a", f32({5, 3}), Storage::external);
  const Value b = graph.add_value("b", f32({5, 3}), Storage::external);
  const std::vector<Value> y =
      graph.add(custom(std::make_shared<SumAndDifference>()), {a, b}, "both");
  std::vector<double> left;
  std::vector<double> right;
  for (int i = 0; i < 15; ++i) {
    left.push_back(0.5 * i);
    right.push_back(2 - 0.25 * i);
  }
  compare_with_reference(graph, {a, b}, {left, right}, y, 1e-6, {}, {"CPU"});
}

TEST(Custom, IsComparedByNameAndSettings) {
  const OpPtr one = custom(std::make_shared<SumAndDifference>(1));
  EXPECT_TRUE(one->same(*custom(std::make_shared<SumAndDifference>(1))));
  EXPECT_FALSE(one->same(*custom(std::make_shared<SumAndDifference>(2))));
  EXPECT_EQ(to_string(one->attributes()), "settings=1 batched=(1, 1)");
  EXPECT_EQ(one->name(), "test.sum_and_difference");
}

TEST(Custom, SaysWhatDoesNotFit) {
  EXPECT_EQ(inference_error(custom(std::make_shared<SumAndDifference>()),
                            {f32({2, 3}), f32({2, 4})}, "both"),
            "[test.sum_and_difference 'both'] expected two equal shapes; got (2, 3) and (2, 4)");
  EXPECT_EQ(inference_error(custom(std::make_shared<SumAndDifference>()), {f32({2}), i32({2})}),
            "[test.sum_and_difference 'layer'] expected f32 operands; got f32 (2), i32 (2)");
  EXPECT_THROW(custom(std::make_shared<SumAndDifference>(1, "sum")), Error);
  EXPECT_THROW(custom(std::make_shared<SumAndDifference>(1, "a.b.c")), Error);
}

}  // namespace
}  // namespace linnet::testing
