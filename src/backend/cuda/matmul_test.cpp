// SPDX-License-Identifier: Apache-2.0
// Linnet's own products on the simulated runtime.
#include "backend/cuda/matmul.cuh"

#include <gtest/gtest.h>

#include "backend/cuda/matmul_testing.h"

namespace linnet::cuda::testing {
namespace {

constexpr float kGap = -77;

/// -(sum + b[column]) + row: an epilogue that notices swapped indices.
struct Marked {
  const float* bias;
  __device__ float operator()(float sum, std::int64_t row, std::int64_t column) const {
    return static_cast<float>(row) - (sum + bias[column]);
  }
};

std::vector<float> compute(const ProductCase& product, const MatmulPlan& plan) {
  const DeviceArray a(product.a);
  const DeviceArray b(product.b);
  const DeviceArray c(
      std::vector<float>(static_cast<std::size_t>(product.p.m * product.p.stride_c()), kGap));
  const DeviceArray workspace(plan.workspace_bytes);
  enqueue_matmul(plan,
                 {.a = a.floats(),
                  .b = b.floats(),
                  .c = c.floats(),
                  .workspace = workspace.bytes(),
                  .stream = nullptr},
                 PlainSum{});
  return c.download();
}

void expect_product(const MatrixProduct& p) {
  const ProductCase product(p);
  const MatmulPlan plan = plan_matmul(p);
  const double allowed = 1e-6 * static_cast<double>(p.k) + 1e-7;
  EXPECT_LE(product.error(compute(product, plan), kGap), allowed)
      << p.m << " x " << p.n << " x " << p.k << (p.transpose_a ? " A^T" : "")
      << (p.transpose_b ? " B^T" : "") << ", " << plan.engine;
}

TEST(Matmul, AllTranspositionsAndRaggedEdges) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const std::int64_t m : {1, 5, 33, 70}) {
        for (const std::int64_t n : {1, 10, 16, 17, 36}) {
          for (const std::int64_t k : {0, 1, 7, 32, 45}) {
            expect_product(
                {.m = m, .n = n, .k = k, .transpose_a = transpose_a, .transpose_b = transpose_b});
          }
        }
      }
    }
  }
}

TEST(Matmul, LongDotsAreSharedByABlock) {
  for (const std::int64_t k : {1024, 1030, 1601}) {
    expect_product({.m = 1, .n = 9, .k = k, .transpose_b = true});
    expect_product({.m = 6, .n = 5, .k = k, .transpose_b = true});
  }
}

/// Blocks of 128, 64 and 32 columns, their last one not full; a single row or column.
TEST(Matmul, ThinSidesOfLongProducts) {
  for (const std::int64_t wide : {128, 129, 260}) {
    for (const std::int64_t k : {63, 260, 1100}) {
      for (const std::int64_t thin : {1, 4, 6, 12}) {
        expect_product({.m = wide, .n = thin, .k = k, .transpose_a = true});
        expect_product({.m = thin, .n = wide, .k = k, .transpose_a = true});
      }
      expect_product({.m = wide, .n = 1, .k = k, .transpose_b = true});
      expect_product({.m = 1, .n = wide, .k = k, .transpose_b = true});
      expect_product({.m = 4 * wide, .n = 1, .k = k + 1, .transpose_b = true});
    }
  }
}

TEST(Matmul, EveryTileAndSplit) {
  for (const int tile : {32, 64, 128}) {
    for (const bool transpose : {false, true}) {
      const MatrixProduct p{
          .m = 130, .n = 132, .k = 75, .transpose_a = transpose, .transpose_b = !transpose};
      const ProductCase product(p);
      for (const std::int64_t terms : {32, 64, 96}) {
        MatmulPlan plan{.kind = MatmulPlan::Kind::tiles, .product = p, .tile = tile};
        plan.split_terms = terms;
        plan.splits = static_cast<int>((p.k + terms - 1) / terms);
        plan.workspace_bytes = static_cast<std::size_t>(plan.splits * p.m * p.n) * sizeof(float);
        EXPECT_LE(product.error(compute(product, plan), kGap), 1e-4) << tile << " by " << terms;
      }
    }
  }
}

TEST(Matmul, RowsWithGapsAndOddAddresses) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      for (const std::int64_t gap : {1, 4}) {
        for (const std::int64_t n : {9, 40}) {
          MatrixProduct p{
              .m = 20, .n = n, .k = 24, .transpose_a = transpose_a, .transpose_b = transpose_b};
          p.lda = p.stride_a() + gap;
          p.ldb = p.stride_b() + gap;
          p.ldc = p.stride_c() + gap;
          expect_product(p);
        }
      }
    }
  }
  // Operands that begin in the middle of 16 bytes.
  const MatrixProduct p{.m = 20, .n = 20, .k = 24, .transpose_b = true};
  const ProductCase product(p);
  std::vector<float> shifted = product.a;
  shifted.insert(shifted.begin(), 0.0F);
  const DeviceArray a(shifted);
  const DeviceArray b(product.b);
  const DeviceArray c(static_cast<std::size_t>(p.m * p.n) * sizeof(float));
  enqueue_matmul(plan_matmul(p), {.a = a.floats() + 1, .b = b.floats(), .c = c.floats()},
                 PlainSum{});
  EXPECT_LE(product.error(c.download(), kGap), 3e-5);
}

TEST(Matmul, EpiloguesKnowRowAndColumnAndComeOnce) {
  for (const MatrixProduct& p :
       {MatrixProduct{.m = 40, .n = 24, .k = 9}, MatrixProduct{.m = 40, .n = 24, .k = 900},
        MatrixProduct{.m = 40, .n = 7, .k = 30, .transpose_b = true},
        MatrixProduct{.m = 40, .n = 7, .k = 300, .transpose_a = true},
        MatrixProduct{.m = 7, .n = 40, .k = 300, .transpose_a = true}}) {
    ProductCase product(p, true);
    for (std::size_t i = 0; i < product.expected.size(); ++i) {
      product.expected[i] =
          static_cast<double>(i / static_cast<std::size_t>(p.n)) - product.expected[i];
    }
    const MatmulPlan plan = plan_matmul(p);
    const DeviceArray a(product.a);
    const DeviceArray b(product.b);
    const DeviceArray bias(product.bias);
    const DeviceArray c(static_cast<std::size_t>(p.m * p.n) * sizeof(float));
    const DeviceArray workspace(plan.workspace_bytes);
    enqueue_matmul(plan,
                   {.a = a.floats(),
                    .b = b.floats(),
                    .c = c.floats(),
                    .workspace = workspace.bytes(),
                    .stream = nullptr},
                   Marked{bias.floats()});
    EXPECT_LE(product.error(c.download(), kGap), 1e-3) << plan.engine;
  }
}

TEST(Matmul, PlansFollowTheShape) {
  using Kind = MatmulPlan::Kind;
  EXPECT_EQ(plan_matmul({.m = 0, .n = 5, .k = 5}).kind, Kind::empty);
  EXPECT_EQ(plan_matmul({.m = 128, .n = 10, .k = 64, .transpose_b = true}).engine, "dots by warps");
  EXPECT_EQ(plan_matmul({.m = 1, .n = 1000, .k = 2048, .transpose_b = true}).engine,
            "dots by blocks");
  EXPECT_EQ(plan_matmul({.m = 10, .n = 128, .k = 64, .transpose_a = true}).engine, "thin sums");
  EXPECT_EQ(plan_matmul({.m = 10, .n = 64, .k = 8000, .transpose_a = true}).engine,
            "thin sums, k in 125");
  EXPECT_EQ(plan_matmul({.m = 128, .n = 10, .k = 64}).engine, "tiles 32x32");
  EXPECT_EQ(plan_matmul({.m = 4096, .n = 4096, .k = 64}).engine, "tiles 128x128");
  EXPECT_EQ(plan_matmul({.m = 512, .n = 512, .k = 8192, .transpose_a = true}).engine,
            "tiles 128x128, k in 16");
  // Every term is in exactly one part, and parts stay within their bounds.
  for (const std::int64_t k : {1, 63, 64, 255, 1000, 4097, 100'003}) {
    for (const std::int64_t n : {3, 40, 300, 3000}) {
      const MatmulPlan plan = plan_matmul({.m = 200, .n = n, .k = k, .transpose_a = true});
      EXPECT_GE(plan.splits * plan.split_terms, k);
      EXPECT_LT((plan.splits - 1) * plan.split_terms, k);
      EXPECT_LE(plan.workspace_bytes, std::size_t{32} << 20);
    }
  }
}

}  // namespace
}  // namespace linnet::cuda::testing
