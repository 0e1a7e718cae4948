// SPDX-License-Identifier: Apache-2.0
#include "base/eigen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/covariance.h"

namespace linnet {
namespace {

/// The second difference has known eigenvalues, 2 - 2 cos(k pi / (n + 1)).
TEST(Eigen, FindsThoseOfAKnownMatrix) {
  constexpr std::size_t kSize = 40;
  std::vector<double> matrix(kSize * kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    matrix[i * kSize + i] = 2;
    if (i > 0) matrix[i * kSize + i - 1] = matrix[(i - 1) * kSize + i] = -1;
  }
  const Eigen found = symmetric_eigen(matrix, kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    const double angle = static_cast<double>(kSize - i) * std::numbers::pi / (kSize + 1);
    EXPECT_NEAR(found.values[i], 2 - 2 * std::cos(angle), 1e-13);
    double largest = 0;
    for (std::size_t j = 0; j < kSize; ++j) {
      double product = 0;  // of the matrix's row j and the vector
      double dot = 0;      // of vectors i and j
      for (std::size_t k = 0; k < kSize; ++k) {
        product += matrix[j * kSize + k] * found.vectors[i * kSize + k];
        dot += found.vectors[i * kSize + k] * found.vectors[j * kSize + k];
      }
      const double component = found.vectors[i * kSize + j];
      EXPECT_NEAR(product, found.values[i] * component, 1e-13);
      EXPECT_NEAR(dot, i == j ? 1 : 0, 1e-13);
      if (std::abs(component) > std::abs(largest)) largest = component;
    }
    EXPECT_GT(largest, 0);
  }
}

TEST(Eigen, TakesMatricesWithoutRotations) {
  const Eigen found = symmetric_eigen({1, 0, 0, 3}, 2);
  EXPECT_EQ(found.values, (std::vector<double>{3, 1}));
  EXPECT_EQ(found.vectors, (std::vector<double>{0, 1, 1, 0}));
  EXPECT_EQ(symmetric_eigen({0}, 1).values, std::vector<double>{0});
}

/// A mean of 1e8 beside a variance of 1 leaves nothing to plain sums of squares.
TEST(Covariance, KeepsItsDigitsBesideALargeMean) {
  Covariance sums(2);
  for (std::int64_t i = 0; i < 1000; ++i) {
    const double x = i % 2 == 0 ? 1 : -1;
    const double y = i % 4 < 2 ? 2 : -2;
    sums.add(std::vector<double>{1e8 + x, y - 1e8 + x});
  }
  EXPECT_EQ(sums.count(), 1000);
  const std::vector<double> found = sums.matrix();
  const std::vector<double> expected{1, 1, 1, 5};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-9);
}

}  // namespace
}  // namespace linnet
