// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/gemm.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace linnet::cpu {
namespace {

/// Small whole numbers: every order of summing gives the same floats.
std::vector<float> numbers(std::int64_t count, std::uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<float> data(static_cast<std::size_t>(count));
  for (float& x : data) x = static_cast<float>(random() % 17) - 8.0F;
  return data;
}

constexpr float kGuard = 1234.5F;  // between the rows of c

/// A product whose stored rows have gaps after them.
class Product {
 public:
  Product(const GemmShape& shape, bool a_transposed, bool b_transposed)
      : s_(shape),
        a_rows_(a_transposed ? shape.k : shape.m),
        b_rows_(b_transposed ? shape.n : shape.k),
        a_stride_((a_transposed ? shape.m : shape.k) + 3),
        b_stride_((b_transposed ? shape.k : shape.n) + 1),
        a_(numbers(a_rows_ * a_stride_, 1)),
        b_(numbers(b_rows_ * b_stride_, 2)),
        c_(static_cast<std::size_t>(shape.m * (shape.n + 2)), kGuard),
        left_{a_.data(), a_stride_, a_transposed},
        right_{b_.data(), b_stride_, b_transposed} {}

  static float at(const Matrix& m, std::int64_t row, std::int64_t column) {
    return m.transposed ? m.data[column * m.stride + row] : m.data[row * m.stride + column];
  }
  /// Elements of c after two products.
  float expected(std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t t = 0; t < s_.k; ++t) sum += at(left_, i, t) * at(right_, t, j);
    return static_cast<float>(2 * sum);
  }
  /// Multiplies twice, the second time on top, and looks at every element and gap.
  void check(RowSums sums) {
    std::vector<std::byte> scratch(gemm_scratch_bytes(s_) + 64, std::byte{0xFF});
    gemm(s_, left_, right_, c_.data(), stride(), scratch.data(), false, sums);
    gemm(s_, left_, right_, c_.data(), stride(), scratch.data(), true, sums);
    for (std::int64_t i = 0; i < s_.m; ++i) {
      for (std::int64_t j = 0; j < s_.n; ++j) {
        ASSERT_EQ(c_[static_cast<std::size_t>(i * stride() + j)], expected(i, j)) << i << ", " << j;
      }
      ASSERT_EQ(c_[static_cast<std::size_t>(i * stride() + s_.n)], kGuard) << i;
    }
    for (std::size_t i = gemm_scratch_bytes(s_); i < scratch.size(); ++i) {
      ASSERT_EQ(scratch[i], std::byte{0xFF}) << "wrote beyond its scratch";
    }
  }

 private:
  std::int64_t stride() const { return s_.n + 2; }

  GemmShape s_;
  std::int64_t a_rows_, b_rows_, a_stride_, b_stride_;
  std::vector<float> a_, b_, c_;
  Matrix left_, right_;
};

TEST(Gemm, MultipliesEveryFormAndSize) {
  for (const GemmShape& shape : std::vector<GemmShape>{{1, 1, 1},
                                                       {5, 40, 3},
                                                       {40, 5, 3},
                                                       {150, 17, 30},
                                                       {100, 300, 20},
                                                       {200, 260, 7},
                                                       {3, 20, 2100},
                                                       {13, 9, 600},
                                                       {4, 4, 0}}) {
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        for (const RowSums sums : {RowSums::faster, RowSums::tiles, RowSums::whole}) {
          SCOPED_TRACE(fmt::format("({}, {}, {}) {} {} {}", shape.m, shape.n, shape.k, a_transposed,
                                   b_transposed, static_cast<int>(sums)));
          Product(shape, a_transposed, b_transposed).check(sums);
        }
      }
    }
  }
}

TEST(Gemm, TasksCoverTheProductOnce) {
  for (const GemmShape& shape : std::vector<GemmShape>{
           {1, 1, 1}, {8000, 1000, 1000}, {64, 512, 6400}, {300, 125, 9600}, {1000, 33, 4000}}) {
    for (const PackedSides packed : {PackedSides::right, PackedSides::both, PackedSides::none}) {
      const ProductTasks tasks(shape, packed);
      EXPECT_LE(tasks.count(), 128);
      std::int64_t covered = 0;
      for (int i = 0; i < tasks.count(); ++i) {
        const auto [rows, columns] = tasks.block(i);
        EXPECT_LE(rows.end, shape.m);
        EXPECT_LE(columns.end, shape.n);
        EXPECT_EQ(columns.begin % 16, 0);
        EXPECT_LE(gemm_scratch_bytes({rows.size(), columns.size(), shape.k}),
                  tasks.scratch_bytes());
        covered += rows.size() * columns.size();
      }
      EXPECT_EQ(covered, shape.m * shape.n);
    }
  }
  EXPECT_GE(ProductTasks({8000, 1000, 1000}).count(), 32) << "enough for many processors";
  EXPECT_EQ(ProductTasks({10, 10, 10}).count(), 1) << "too short to hand out";
}

}  // namespace
}  // namespace linnet::cpu
