// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backend/cuda/kernel.h"
#include "op_harness.h"
#include "ops/gather/gather.h"

namespace linnet::cuda {
void register_gather(Registry& registry);
}

namespace linnet::testing {
namespace {

TEST(GatherCuda, GradientsOfTablesWhoseRowsNeedMoreThanAnIndexAreRefused) {
  cuda::Registry registry;
  cuda::register_gather(registry);
  const std::vector<ValueType> inputs{f32({3, 1}), {DType::i32, Shape{3}}};
  const auto is_taken = [&](std::int64_t rows) {
    const GatherGradOp op({.rows = rows});
    const std::vector<ValueType> outputs = op.infer(inputs);
    return registry.prepare({op, inputs, outputs, {true}}, {}).has_value();
  };
  EXPECT_TRUE(is_taken((std::int64_t{1} << 31) - 1));
  EXPECT_FALSE(is_taken(std::int64_t{1} << 31));
}

}  // namespace
}  // namespace linnet::testing
