// SPDX-License-Identifier: Apache-2.0
#include "base/cholesky.h"

#include <gtest/gtest.h>

namespace linnet {
namespace {

TEST(Cholesky, SolvesAndSaysWhereItCannot) {
  // The upper triangle is not read.
  const Cholesky solver({4, -1, -1, 2, 5, -1, -2, 1, 6}, 3);
  EXPECT_TRUE(solver.positive());
  std::vector<double> b{4 * 1 + 2 * 2 - 2 * 3, 2 * 1 + 5 * 2 + 1 * 3, -2 * 1 + 1 * 2 + 6 * 3};
  solver.solve(b);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(b[i], static_cast<double>(i) + 1, 1e-12);
  EXPECT_FALSE(Cholesky({1, 0, 2, 1}, 2).positive());
}

}  // namespace
}  // namespace linnet
