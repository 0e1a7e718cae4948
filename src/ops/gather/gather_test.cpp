// SPDX-License-Identifier: Apache-2.0
#include "ops/gather/gather.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/arithmetic/unaligned_cuda_test.h"
#include "ops/reduce/run_kernel_test.h"

namespace linnet::testing {
namespace {

/// Random elements of the table, random indices into it.
std::vector<Fill> fills(double rows) { return {{-1, 1}, {0, rows}}; }

OpPtr gather() { return make_op(GatherOp()); }
OpPtr gather_grad(std::int64_t rows) { return make_op(GatherGradOp({.rows = rows})); }

TEST(Gather, AgreesWithTheReference) {
  check({"gather words", gather(), {f32({11, 5}), i32({4, 3})}, fills(11)});
  check({"gather one index", gather(), {f32({11, 5}), i32({1})}, fills(11)});
  check({"gather one row", gather(), {f32({1, 7}), i32({6})}, fills(1)});
  check({"gather numbers", gather(), {f32({9}), i32({3, 4})}, fills(9)});
  check({"gather one column", gather(), {f32({9, 1}), i32({3, 4})}, fills(9)});
  check({"gather four columns", gather(), {f32({9, 4}), i32({3, 5})}, fills(9)});
  check({"gather images", gather(), {f32({4, 3, 2, 5}), i32({3, 1, 2})}, fills(4)});
  check({"gather no sample", gather(), {f32({11, 5}), i32({0, 3})}, fills(11), false});
  check({"gather no column", gather(), {f32({11, 0}), i32({4})}, fills(11), false});
  check({"gather extreme", gather(), {f32({11, 5}), i32({9})}, {{-3e38, 3e38}, {0, 11}}, false});
}

TEST(Gather, ManyTasksAgreeWithTheReference) {
  check({"gather many", gather(), {f32({500, 33}), i32({64, 151})}, fills(500), false});
  check({"gather long rows", gather(), {f32({3, 150001}), i32({2})}, fills(3), false});
  check({"gather many numbers", gather(), {f32({50}), i32({9000})}, fills(50), false});
}

TEST(GatherGrad, AgreesWithTheReference) {
  check({"scatter", gather_grad(11), {f32({4, 3, 5}), i32({4, 3})}, fills(11), false});
  check({"scatter no sample", gather_grad(11), {f32({0, 5}), i32({0})}, fills(11), false});
  check({"scatter no column", gather_grad(11), {f32({4, 0}), i32({4})}, fills(11), false});
  check({"scatter into nothing", gather_grad(0), {f32({4, 3}), i32({4})}, fills(11), false});
  check({"scatter many", gather_grad(500), {f32({64, 75, 33}), i32({64, 75})}, fills(500), false});
  check({"scatter few rows", gather_grad(3), {f32({300, 301}), i32({300})}, fills(3), false});
  check({"scatter one wide row", gather_grad(1), {f32({30, 9001}), i32({30})}, fills(1), false});
  check({"scatter numbers", gather_grad(7), {f32({300000}), i32({300000})}, fills(7), false});
}

TEST(GatherGrad, WideRowsAgreeWithTheReference) {
  check({"scatter wide", gather_grad(40), {f32({300, 64}), i32({300})}, fills(40), false});
  check({"scatter tiles", gather_grad(19), {f32({3000, 136}), i32({3000})}, fills(19), false});
  // All into two of the rows: a CUDA warp's queue of hits fills up.
  check(
      {"scatter crowd", gather_grad(9), {f32({3000, 36}), i32({3000})}, {{-1, 1}, {3, 5}}, false});
}

TEST(Gather, MayLieAnywhere) {
  check_unaligned(gather(), {f32({3, 8}), i32({10})});
  check_unaligned(gather_grad(3), {f32({10, 64}), i32({10})});
}

TEST(GatherGrad, IgnoresIndicesOutside) {
  check({"scatter outside", gather_grad(5), {f32({40, 3}), i32({40})}, {{-1, 1}, {-4, 9}}, false});
  check({"scatter far outside",
         gather_grad(5),
         {f32({40, 3}), i32({40})},
         {{-1, 1}, {-2147483648.0, 2147483647.0}},
         false});
}

TEST(Gather, AnIndexOutsideGivesNan) {
  const std::vector<float> table = {1, 2, 3, 4};
  const std::vector<std::int32_t> indices = {1,
                                             -1,
                                             2,
                                             0,
                                             std::numeric_limits<std::int32_t>::max(),
                                             std::numeric_limits<std::int32_t>::min()};
  const auto y = run_kernel(gather(), {f32({2, 2}), i32({6})}, {table.data(), indices.data()});
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t k = 0; k < 2; ++k) {
      const float actual = y[i * 2 + k];
      if (i == 0 || i == 3) {
        EXPECT_EQ(actual, table[static_cast<std::size_t>(indices[i]) * 2 + k]);
      } else {
        EXPECT_TRUE(std::isnan(actual)) << i;
      }
    }
  }
}

TEST(GatherGrad, NanStaysInItsRow) {
  const std::vector<float> dy = {1, std::numeric_limits<float>::quiet_NaN(), 3};
  const std::vector<std::int32_t> indices = {0, 2, 0};
  const auto table = run_kernel(gather_grad(4), {f32({3}), i32({3})}, {dy.data(), indices.data()});
  EXPECT_EQ(table[0], 4);
  EXPECT_EQ(table[1], 0);
  EXPECT_TRUE(std::isnan(table[2]));
  EXPECT_EQ(table[3], 0);
}

TEST(Gather, NamesTheOperandsAndTheirShapes) {
  EXPECT_EQ(inference_error(gather(), {f32({9, 4}), f32({2, 3})}, "words"),
            "[gather 'words'] expected an f32 table (V, ...) and i32 indices (N, ...); got "
            "table=(9, 4), indices=(2, 3)");
  EXPECT_EQ(inference_error(gather_grad(9), {f32({2, 4}), i32({3})}, "words"),
            "[gather_grad 'words'] expected f32 dy (N, ..., row) and i32 indices (N, ...); got "
            "dy=(2, 4), indices=(3)");
  EXPECT_NE(inference_error(gather(), {f32({}), i32({3})}), "");
  EXPECT_NE(inference_error(gather(), {f32({3}), i32({})}), "");
  EXPECT_NE(inference_error(gather(), {i32({3}), i32({3})}), "");
  EXPECT_NE(inference_error(gather_grad(-1), {f32({3, 4}), i32({3})}), "");
  EXPECT_NE(inference_error(gather_grad(9), {f32({3}), i32({3, 1})}), "");
}

}  // namespace
}  // namespace linnet::testing
