// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/matmul.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

/// Shapes of a (m, k) and b (k, n) as they are stored, after `leading` axes.
std::vector<ValueType> operands(const MatmulAttrs& attrs, std::vector<std::int64_t> leading,
                                std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto matrix = [&](std::int64_t rows, std::int64_t columns, bool transposed) {
    std::vector<std::int64_t> dims = leading;
    dims.push_back(transposed ? columns : rows);
    dims.push_back(transposed ? rows : columns);
    return f32(Shape(dims));
  };
  return {matrix(m, k, attrs.transpose_a), matrix(k, n, attrs.transpose_b)};
}

TEST(Matmul, AgreesWithTheReference) {
  for (bool ta : {false, true}) {
    for (bool tb : {false, true}) {
      const MatmulAttrs attrs{.transpose_a = ta, .transpose_b = tb};
      const OpPtr op = make_op(MatmulOp(attrs));
      const auto name = [&](const char* what) {
        return fmt::format("matmul {} {}{}", what, ta, tb);
      };
      check({name("small"), op, operands(attrs, {2, 3}, 3, 5, 4)});
      check({name("one"), op, operands(attrs, {1}, 1, 1, 1)});
      check({name("by fours"), op, operands(attrs, {2}, 8, 12, 4)});
      check({name("rank 5"), op, operands(attrs, {2, 1, 2}, 2, 3, 2)});
      check({name("no sample"), op, operands(attrs, {0, 2}, 3, 4, 5), {}, false});
      check({name("heads"), op, operands(attrs, {4, 5}, 37, 41, 19), {}, false});
      check({name("few large"), op, operands(attrs, {1, 2}, 130, 70, 67), {}, false});
      check({name("tiles of 64"), op, operands(attrs, {3}, 64, 68, 36), {}, false});
    }
  }
  check({"matmul no term", make_op(MatmulOp()), {f32({2, 3, 0}), f32({2, 0, 4})}, {}, false});
  check({"matmul no row", make_op(MatmulOp()), {f32({2, 0, 3}), f32({2, 3, 4})}, {}, false});
}

TEST(Matmul, SaysWhatDoesNotFit) {
  EXPECT_EQ(inference_error(make_op(MatmulOp()), {f32({2, 3, 4}), f32({2, 5, 6})}, "scores"),
            "[matmul 'scores'] expected b with 4 terms for each sum; got a=(2, 3, 4), b=(2, 5, 6)");
  EXPECT_EQ(inference_error(make_op(MatmulOp()), {f32({2, 3, 4}), f32({3, 4, 6})}, "scores"),
            "[matmul 'scores'] expected f32 matrices a (N, ..., m, k) and b (N, ..., k, n) with "
            "the same leading axes; got a=(2, 3, 4), b=(3, 4, 6)");
  EXPECT_NE(inference_error(make_op(MatmulOp()), {f32({3, 4}), f32({4, 6})}), "");
}

}  // namespace
}  // namespace linnet::testing
