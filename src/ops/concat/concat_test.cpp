// SPDX-License-Identifier: Apache-2.0
#include "ops/concat/concat.h"

#include <gtest/gtest.h>

#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"

namespace linnet::testing {
namespace {

OpPtr concat(int axis) { return make_op(ConcatOp({.axis = axis})); }

TEST(Concat, AgreesWithTheReference) {
  check({"concat one", concat(1), {f32({4, 3})}});
  check({"concat matrices", concat(1), {f32({4, 3}), f32({4, 5})}});
  check({"concat scalars", concat(1), {f32({5, 1}), f32({5, 1}), f32({5, 1})}});
  check({"concat channels", concat(3), {f32({2, 3, 5, 7}), f32({2, 3, 5, 1}), f32({2, 3, 5, 4})}});
  check({"concat rows", concat(1), {f32({2, 3, 5, 2}), f32({2, 4, 5, 2})}});
  check({"concat columns", concat(2), {f32({3, 3, 1, 2}), f32({3, 3, 6, 2})}});
  check({"concat one sample", concat(2), {f32({1, 3, 5}), f32({1, 3, 2})}});
  check({"concat no sample", concat(1), {f32({0, 3}), f32({0, 5})}, {}, false});
  check({"concat an empty operand", concat(1), {f32({4, 3}), f32({4, 0}), f32({4, 2})}, {}, false});
  check({"concat nothing", concat(1), {f32({4, 0}), f32({4, 0})}, {}, false});
  check({"concat extreme", concat(1), {f32({3, 7}), f32({3, 2})}, {{-3e38, 3e38}}, false});
}

TEST(Concat, WholePacksAgreeWithTheReference) {
  check({"concat packs", concat(1), {f32({4, 8}), f32({4, 4}), f32({4, 12})}});
  check({"concat packs and others", concat(1), {f32({4, 8}), f32({4, 3}), f32({4, 5})}});
  check({"concat many packs", concat(1), std::vector<ValueType>(70, f32({3, 4})), {}, false});
}

TEST(Concat, MayLieAnywhere) { check_unaligned(concat(1), {f32({4, 8}), f32({4, 4})}); }

TEST(Concat, ManyTasksAgreeWithTheReference) {
  check({"concat many rows", concat(1), {f32({9001, 31}), f32({9001, 20})}, {}, false});
  check({"concat long rows", concat(1), {f32({1, 400003}), f32({1, 300001})}, {}, false});
  check({"concat many operands", concat(1), std::vector<ValueType>(40, f32({60, 7}))});
}

TEST(Concat, NamesAllShapes) {
  EXPECT_EQ(inference_error(concat(1), {f32({2, 3, 4}), f32({2, 5, 4}), f32({2, 3, 5})}, "join"),
            "[concat 'join'] expected f32 operands that differ in axis 1 (after the batch) alone; "
            "got x0=(2, 3, 4), x1=(2, 5, 4), x2=(2, 3, 5)");
  EXPECT_NE(inference_error(concat(0), {f32({2, 3}), f32({1, 3})}), "");
  EXPECT_NE(inference_error(concat(2), {f32({2, 3})}), "");
  EXPECT_NE(inference_error(concat(1), {f32({2, 3}), f32({2, 3, 1})}), "");
  EXPECT_NE(inference_error(concat(1), {f32({2, 3}), i32({2, 3})}), "");
  EXPECT_NE(inference_error(concat(1), {}), "");
}

}  // namespace
}  // namespace linnet::testing
