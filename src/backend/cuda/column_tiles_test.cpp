// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/column_tiles.h"

#include <gtest/gtest.h>

#include "backend/cuda/kernel.h"

namespace linnet::cuda {
namespace {

constexpr std::int64_t kSizes[] = {0,   1,   2,    3,    4,    5,    7,    8,     10,     12,
                                   15,  16,  31,   32,   33,   50,   64,   100,   126,    130,
                                   256, 400, 1000, 1001, 2048, 4100, 9600, 65536, 100000, 1000000};

/// What add_over_rows() and the kernels around it take for granted.
void expect_valid(const ColumnTiles& t) {
  EXPECT_EQ(t.lanes & (t.lanes - 1), 0U);
  EXPECT_LE(t.lanes, 32U);
  EXPECT_EQ(t.block % 32, 0U);
  EXPECT_LE(t.block, t.lanes * static_cast<unsigned>(t.vector) > 32 ? kBlock : kColumnBlock);
  EXPECT_GE(t.block, t.lanes);
  EXPECT_GE(std::int64_t{t.tiles} * t.lanes * t.vector, t.columns);
  EXPECT_GE(t.chunks * t.chunk_rows, t.rows);
  EXPECT_LE(t.chunks, 65535U);
  EXPECT_TRUE(t.chunks == 1 || t.tiles <= kTickets);
}

TEST(ColumnTiles, CoverEveryMatrix) {
  for (const std::int64_t rows : kSizes) {
    for (const std::int64_t columns : kSizes) {
      SCOPED_TRACE(testing::Message() << rows << " x " << columns);
      expect_valid(column_tiles(rows, columns, 4, 1024));
      expect_valid(column_tiles(rows, columns, 4, 1024, false));
      expect_valid(column_sums(rows, columns));
      const ColumnTiles folded = matrix_sums(rows, columns);
      expect_valid(folded);
      EXPECT_EQ(folded.rows * folded.fold, rows);
      EXPECT_EQ(folded.columns, columns * folded.fold);
      EXPECT_TRUE(folded.fold == 1 || folded.tiles == 1);
    }
  }
}

TEST(ColumnTiles, ManyRowsFillADevice) {
  for (const std::int64_t columns : {3, 8, 64, 100, 400, 1000}) {
    const ColumnTiles t = matrix_sums(1 << 20, columns);
    EXPECT_GE(t.tiles * t.chunks, 330U) << columns;  // of 396, three to a multiprocessor
    EXPECT_LE(t.tiles * t.chunks, 396U) << columns;
    EXPECT_EQ(t.block, kBlock);
    EXPECT_EQ(t.vector, 4);
  }
  // Eight rows of threads, by which more chunks would take more than four rounds to add.
  EXPECT_EQ(matrix_sums(1 << 20, 50).chunks, 256U);
}

TEST(ColumnTiles, FewRowsHaveWideBlocksAndNoSecondRound) {
  for (const std::int64_t rows : {1, 2, 5, 7}) {
    const ColumnTiles t = column_sums(rows, 4096);
    EXPECT_EQ(t.lanes, 32U);
    EXPECT_EQ(t.chunks, 1U);
    EXPECT_LT(t.block, 32 * 2 * static_cast<unsigned>(rows) + 1);
  }
  EXPECT_EQ(column_sums(64, 1 << 20).chunks, 1U);  // which gather_grad's sums rely on
}

}  // namespace
}  // namespace linnet::cuda
