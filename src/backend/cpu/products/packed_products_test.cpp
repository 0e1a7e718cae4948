// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/packed_products.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace linnet::cpu {
namespace {

using Data = std::vector<float>;

/// Small whole numbers: every order of summing gives the same floats.
Data numbers(std::int64_t count, std::uint32_t seed) {
  std::minstd_rand random(seed);
  Data data(static_cast<std::size_t>(count));
  for (float& x : data) x = static_cast<float>(random() % 17) - 8.0F;
  return data;
}

/// a (m, k) b (k, n) + start, where a is transposed if `over_rows`.
Data expected(const GemmShape& s, const Data& a, const Data& b, const Data& start, bool over_rows) {
  Data c;
  for (std::int64_t i = 0; i < s.m; ++i) {
    Data row = start;
    for (std::int64_t t = 0; t < s.k; ++t) {
      const float x = a[static_cast<std::size_t>(over_rows ? t * s.m + i : i * s.k + t)];
      const float* from = b.data() + t * s.n;
      for (std::size_t j = 0; j < row.size(); ++j) row[j] += x * from[j];
    }
    c.insert(c.end(), row.begin(), row.end());
  }
  return c;
}

TEST(PackedProducts, SumRowsWhereTheyLie) {
  // Blocks of rows and a rest, groups of columns and a rest, more terms than are summed at once.
  for (const GemmShape& s : {GemmShape{805, 71, 1100}, GemmShape{100, 203, 40}, GemmShape{5, 1, 3},
                             GemmShape{97, 300, 600}}) {
    const Data a = numbers(s.m * s.k, 1);
    const Data b = numbers(s.k * s.n, 2);
    const Data start = numbers(s.n, 3);
    const PackedProduct product(s);
    Data panels(product.panel_bytes() / sizeof(float), -1.0F);
    for (int group = 0; group < product.groups(); ++group) {
      product.pack({b.data(), s.n, 1}, group, panels.data());
    }
    Data c(static_cast<std::size_t>(s.m * s.n), -1.0F);
    std::vector<std::byte> scratch(product.scratch_bytes());
    std::int64_t finished = 0;
    for (int task = 0; task < product.tasks(); ++task) {
      product.run(product.rows_of_task(task), product.group_of_task(task), a.data(), panels.data(),
                  start.data(), c.data(), scratch.data(),
                  [&](const float* /*first*/, std::int64_t rows, std::int64_t columns) {
                    finished += rows * columns;
                  });
    }
    EXPECT_EQ(c, expected(s, a, b, start, false)) << s.m;
    EXPECT_EQ(finished, s.m * s.n);
  }
}

TEST(PackedProducts, SumOverRowsInPasses) {
  for (const GemmShape& s : {GemmShape{515, 550, 1300}, GemmShape{13, 33, 5}}) {
    const Data a = numbers(s.k * s.m, 1);
    const Data b = numbers(s.k * s.n, 2);
    const Kernel kernel = PackedRowSums(s).kernel(0, 1);
    Data c(static_cast<std::size_t>(s.m * s.n), -1.0F);
    Data workspace(kernel.workspace_bytes / sizeof(float), -1.0F);
    std::vector<std::byte> scratch(kernel.scratch_bytes);
    std::vector<void*> inputs{const_cast<float*>(a.data()), const_cast<float*>(b.data())};
    std::vector<void*> results{c.data()};
    const Args args{inputs, results, reinterpret_cast<std::byte*>(workspace.data()), nullptr};
    for (const Stage& stage : kernel.stages) {
      for (int task = 0; task < stage.tasks; ++task) {
        stage.run(args, {task, scratch.data(), nullptr});
      }
    }
    EXPECT_EQ(c, expected(s, a, b, Data(static_cast<std::size_t>(s.n)), true)) << s.m;
  }
  EXPECT_TRUE(PackedRowSums({512, 512, 1000}).worthwhile());
  EXPECT_FALSE(PackedRowSums({512, 300, 1000}).worthwhile());
  EXPECT_FALSE(PackedRowSums({512, 512, 0}).worthwhile());
}

}  // namespace
}  // namespace linnet::cpu
