// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "backend/cuda/kernel.h"
#include "op_harness.h"
#include "ops/gather/gather.h"
#include "ops/gather/scatter_cuda.h"

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

TEST(GatherCuda, BlocksCoverTheTableAndShareIndicesWhereTheyAreFew) {
  for (const auto& [rows, size, count] : {std::array<std::int64_t, 3>{10000, 64, 25000},
                                          {3, 1, 1 << 20},
                                          {1, 5000, 10},
                                          {7, 36, 0}}) {
    const cuda::ScatterShape shape = cuda::scatter_shape(rows, size, count);
    EXPECT_GE(shape.tiles * shape.tile, size);
    EXPECT_GE(shape.groups * shape.rows, rows);
    EXPECT_EQ(size % shape.vector, 0);
    EXPECT_LE(shape.tile, 32 * shape.vector);
    EXPECT_LE(shape.launch().shared_bytes, std::size_t{32} << 10);
  }
  EXPECT_EQ(cuda::scatter_shape(10000, 64, 25000).segments, 1U);
  EXPECT_EQ(cuda::scatter_shape(3, 1, 1 << 20).segments, 64U);
  EXPECT_EQ(cuda::scatter_shape(3, 1, 5000).segments, 2U);
}

}  // namespace
}  // namespace linnet::testing
