// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/launches_cuda.h"

#include <gtest/gtest.h>

namespace linnet::cuda {
namespace {

ValueType image(const Shape& shape, DType type = DType::f32) {
  return {.dtype = type, .shape = shape};
}

TEST(BatchNormLaunches, OneWhereThreadsKeepTheRowsOfABlock) {
  const AllNormLaunches launches(image({128, 4, 4, 512}), kNormKeeps);
  EXPECT_TRUE(launches.fours.whole);
  EXPECT_EQ(launches.fours.sums.chunks, 1U);
  EXPECT_LE(launches.fours.sums.rows_of_thread(), kNormKeeps);
  EXPECT_GE(launches.fours.sums.tiles, 32U);
  EXPECT_EQ(launches.workspace_bytes(), launches.ones.sums.partial_bytes(2));
  EXPECT_EQ(launches.of(true).sums.vector, 4);
  EXPECT_EQ(launches.of(false).sums.vector, 1);
}

TEST(BatchNormLaunches, TwoForLargeImages) {
  const AllNormLaunches launches(image({64, 112, 112, 64}), kNormKeeps);
  EXPECT_FALSE(launches.fours.whole);
  const ColumnTiles& sums = launches.fours.sums;
  EXPECT_EQ(sums.tiles * sums.chunks, 1024U);
  EXPECT_EQ(sums.partial_bytes(2), 2 * sizeof(float) * sums.chunks * 64);
  EXPECT_GE(launches.workspace_bytes(), sums.partial_bytes(2));
  EXPECT_GT(launches.fours.map.chunks, sums.chunks);
}

TEST(BatchNormLaunches, OfNoRowAndOfOddChannels) {
  EXPECT_EQ(NormLaunches(image({0, 2, 2, 8}), true, kGradientKeeps).sums.rows, 0);
  EXPECT_EQ(NormLaunches(image({2, 3, 3, 7}), true, kGradientKeeps).sums.vector, 1);
}

}  // namespace
}  // namespace linnet::cuda
