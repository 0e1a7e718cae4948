// SPDX-License-Identifier: Apache-2.0
#include "ops/slice/slice.h"

#include <gtest/gtest.h>

#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"

namespace linnet::testing {
namespace {

OpPtr slice(int axis, std::int64_t begin, std::int64_t end) {
  return make_op(SliceOp({.axis = axis, .begin = begin, .end = end}));
}

OpPtr pad(int axis, std::int64_t begin, std::int64_t dim) {
  return make_op(SliceGradOp({.axis = axis, .begin = begin, .dim = dim}));
}

TEST(Slice, AgreesWithTheReference) {
  check({"slice matrix", slice(1, 2, 7), {f32({4, 9})}});
  check({"slice all", slice(1, 0, 9), {f32({4, 9})}});
  check({"slice nothing", slice(1, 4, 4), {f32({4, 9})}});
  check({"slice rows of images", slice(1, 1, 4), {f32({2, 5, 3, 7})}});
  check({"slice columns of images", slice(2, 1, 3), {f32({3, 5, 3, 7})}});
  check({"slice channels", slice(3, 2, 7), {f32({2, 5, 3, 7})}});
  check({"slice one sample", slice(2, 0, 1), {f32({1, 5, 3})}});
  check({"slice no sample", slice(1, 2, 7), {f32({0, 9})}, {}, false});
  check({"slice extreme", slice(1, 1, 6), {f32({3, 7})}, {{-3e38, 3e38}}, false});
}

TEST(Slice, ShortRowsAgreeWithTheReference) {
  for (std::int64_t size = 1; size <= 5; ++size) {
    check({"slice short", slice(2, 3, 3 + size), {f32({3, 5, 9})}});
  }
  check({"slice short, no sample", slice(1, 3, 5), {f32({0, 9})}, {}, false});
  check({"slice short, many tasks", slice(1, 3, 6), {f32({90001, 7})}, {}, false});
}

TEST(Slice, ManyTasksAgreeWithTheReference) {
  // Numbers of rows for which tasks end within a row.
  check({"slice many rows", slice(1, 1, 48), {f32({9001, 51})}, {}, false});
  check({"slice one long row", slice(1, 1, 700001), {f32({1, 700003})}, {}, false});
}

TEST(SliceGrad, AgreesWithTheReference) {
  check({"pad both sides", pad(1, 2, 9), {f32({4, 5})}});
  check({"pad after", pad(1, 0, 9), {f32({4, 5})}});
  check({"pad in front", pad(1, 4, 9), {f32({4, 5})}});
  check({"pad nothing", pad(2, 0, 3), {f32({2, 5, 3, 7})}});
  check({"pad columns of images", pad(2, 1, 6), {f32({2, 5, 3, 7})}});
  check({"pad channels", pad(3, 1, 9), {f32({2, 5, 3, 7})}});
  check({"pad an empty axis", pad(1, 1, 3), {f32({2, 0})}, {}, false});
  check({"pad no sample", pad(1, 1, 9), {f32({0, 5})}, {}, false});
  check({"pad many rows", pad(1, 3, 50), {f32({9001, 41})}, {}, false});
  check({"pad one long row", pad(1, 300001, 700003), {f32({1, 100003})}, {}, false});
}

TEST(Slice, WholePacksAgreeWithTheReference) {
  check({"slice packs", slice(1, 4, 12), {f32({5, 16})}});
  check({"slice packs, misplaced", slice(1, 2, 10), {f32({5, 16})}});
  check({"slice packs of odd rows", slice(1, 4, 12), {f32({5, 17})}});
  check({"pad packs", pad(1, 4, 16), {f32({5, 8})}});
  check({"pad packs, misplaced", pad(1, 2, 16), {f32({5, 8})}});
  check({"pad packs of odd rows", pad(1, 4, 17), {f32({5, 8})}});
}

TEST(Slice, MayLieAnywhere) {
  check_unaligned(slice(1, 4, 12), {f32({5, 16})});
  check_unaligned(pad(1, 4, 16), {f32({5, 8})});
}

TEST(Slice, NamesTheAxisAndTheShape) {
  EXPECT_EQ(inference_error(slice(1, 3, 8), {f32({2, 7})}, "head"),
            "[slice 'head'] expected [3, 8) within axis 1; got x=(2, 7)");
  EXPECT_EQ(inference_error(slice(0, 0, 1), {f32({2, 7})}, "head"),
            "[slice 'head'] expected one f32 operand with an axis 0 after the batch; got "
            "x=(2, 7)");
  EXPECT_EQ(inference_error(pad(1, 3, 8), {f32({2, 7})}, "head"),
            "[slice_grad 'head'] expected axis 1 to fit from 3 on into a dimension of 8; got "
            "dy=(2, 7)");
  EXPECT_NE(inference_error(slice(2, 0, 1), {f32({2, 7})}), "");
  EXPECT_NE(inference_error(slice(1, -1, 1), {f32({2, 7})}), "");
  EXPECT_NE(inference_error(slice(1, 2, 1), {f32({2, 7})}), "");
  EXPECT_NE(inference_error(slice(1, 0, 1), {i32({2, 7})}), "");
  EXPECT_NE(inference_error(pad(1, -1, 8), {f32({2, 7})}), "");
}

}  // namespace
}  // namespace linnet::testing
