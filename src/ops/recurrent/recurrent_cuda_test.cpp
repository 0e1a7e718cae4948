// SPDX-License-Identifier: Apache-2.0
// What Linnet's own recurrent kernels launch.
#include <gtest/gtest.h>

#include <set>

#include "ops/recurrent/plan_cuda.h"

namespace linnet::cuda {
namespace {

RecurrentShape shape_of(Cell cell, std::int64_t n, std::int64_t units) {
  return {.cell = cell, .n = n, .steps = 5, .features = 3, .units = units};
}

TEST(RecurrentCuda, BlocksTakeMoreSamplesOnceTheyFillADevice) {
  const RecurrentCut few = forward_cut(shape_of(Cell::gru, 256, 32));
  EXPECT_EQ(few.samples, 1);
  EXPECT_EQ(few.launch.grid.x, 256U);
  EXPECT_EQ(few.launch.block.x, 96U);
  EXPECT_EQ(few.launch.shared_bytes, sizeof(float) * 6 * 32);
  const RecurrentCut many = forward_cut(shape_of(Cell::gru, 257, 32));
  EXPECT_EQ(many.samples, 4);
  EXPECT_EQ(many.launch.grid.x, 65U);
  EXPECT_EQ(many.floats, 4 * few.floats);
}

TEST(RecurrentCuda, EveryWeightIsHeldByOneThread) {
  std::set<int> sizes;
  for (const Cell cell : {Cell::tanh, Cell::gru, Cell::lstm}) {
    for (std::int64_t units = 1; units <= 600; ++units) {
      const RecurrentShape s = shape_of(cell, 64, units);
      for (const auto& [cut, sums, terms] :
           {std::tuple(held_forward_cut(s), s.columns(), units),
            std::tuple(held_backward_cut(s), units, s.columns())}) {
        if (!cut) {
          EXPECT_GT(sums * terms, 20'000) << units;
          continue;
        }
        sizes.insert(cut->size);
        const HeldSize size = kHeldSizes[cut->size];
        EXPECT_EQ(cut->sums, sums);
        EXPECT_GE(cut->parts * cut->terms, terms);
        EXPECT_LT((cut->parts - 1) * cut->terms, terms);
        EXPECT_LE(cut->terms, size.terms);
        EXPECT_EQ(cut->terms % 4, 0);
        EXPECT_GE(static_cast<int>(cut->launch.block.x), cut->parts * cut->sums);
        EXPECT_LE(static_cast<int>(cut->launch.block.x), size.threads);
        EXPECT_LE(units, cut->launch.block.x);
        EXPECT_LE(cut->launch.shared_bytes, 48U << 10);
      }
    }
  }
  EXPECT_EQ(sizes.size(), std::size(kHeldSizes));
}

TEST(RecurrentCuda, BlocksThatHoldWeightsTakeTwoSamplesOfMany) {
  EXPECT_EQ(held_forward_cut(shape_of(Cell::gru, 128, 100))->launch.grid.x, 128U);
  EXPECT_EQ(held_forward_cut(shape_of(Cell::gru, 129, 100))->launch.grid.x, 65U);
  EXPECT_FALSE(held_forward_cut(shape_of(Cell::gru_original, 64, 100)));
  EXPECT_FALSE(held_forward_cut(shape_of(Cell::lstm, 64, 1'000'000)));
}

TEST(RecurrentCuda, StatesThatSharedMemoryDoesNotHoldLieInTheWorkspace) {
  const RecurrentCut most = forward_cut(shape_of(Cell::tanh, 1000, 3072));
  EXPECT_EQ(most.launch.shared_bytes, 48U << 10);
  EXPECT_EQ(most.memory_bytes, 0U);
  EXPECT_EQ(most.samples, 1);
  const RecurrentCut more = forward_cut(shape_of(Cell::tanh, 1000, 3073));
  EXPECT_EQ(more.launch.shared_bytes, 0U);
  EXPECT_GE(more.memory_bytes, 1000 * sizeof(float) * 4 * 3073);
  EXPECT_EQ(more.launch.block.x, 1024U);
}

TEST(RecurrentCuda, ProductsOfSlopesMakeEachRowOfTheWeightsGradientOnce) {
  for (const Cell cell : {Cell::tanh, Cell::gru, Cell::gru_original, Cell::lstm}) {
    const RecurrentShape s = shape_of(cell, 4, 8);
    EXPECT_EQ(slope_products(s, true).size(), slope_products(s, false).size() + 1);
    std::int64_t rows = 0;
    for (const SlopeProduct& p : slope_products(s, true)) {
      if (p.output != RecurrentGradOp::Out::dw_hh) continue;
      EXPECT_EQ(p.element % (s.units * s.units), 0);
      rows += p.plan.product.m;
    }
    EXPECT_EQ(rows, s.columns());
  }
}

}  // namespace
}  // namespace linnet::cuda
