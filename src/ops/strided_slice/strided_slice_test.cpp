// SPDX-License-Identifier: Apache-2.0
#include "ops/strided_slice/strided_slice.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

OpPtr slice(int axis, std::int64_t begin, std::int64_t step, std::int64_t count) {
  return make_op(StridedSliceOp({.axis = axis, .begin = begin, .step = step, .count = count}));
}

TEST(StridedSlice, AgreesWithTheReference) {
  check({"every second", slice(1, 0, 2, 3), {f32({2, 5, 3})}});
  check({"every third of the last axis", slice(2, 1, 3, 2), {f32({2, 2, 5})}});
  check({"backwards", slice(1, 4, -1, 5), {f32({2, 5, 3})}});
  check({"backwards in steps", slice(1, 5, -2, 3), {f32({2, 6})}});
  check({"one element", slice(1, 2, 1, 1), {f32({1, 3})}});
  check({"no sample", slice(1, 0, 2, 2), {f32({0, 3})}, {}, false});
  check({"many tasks", slice(1, 1, 2, 24), {f32({64, 50, 67})}, {}, false});
  check({"gradient, many tasks",
         make_op(StridedSliceGradOp(
             {.slice = {.axis = 1, .begin = 48, .step = -2, .count = 24}, .dim = 50})),
         {f32({64, 24, 67})},
         {},
         false});
}

TEST(StridedSlice, NamesTheLayerAndWhatIsWrong) {
  EXPECT_EQ(inference_error(slice(1, 0, 2, 4), {f32({3, 5})}, "thin"),
            "[strided_slice 'thin'] expected one f32 operand whose axis 1 holds 4 elements from 0 "
            "on in steps of 2; got x=(3, 5)");
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  for (const OpPtr& op :
       {slice(1, 0, 0, 1), slice(1, -1, 1, 1), slice(1, 1, -1, 3), slice(1, 5, 1, 1),
        slice(2, 0, 1, 1), slice(1, 0, kHuge, 2), slice(1, 0, 1, kHuge), slice(1, 0, 1, -1)}) {
    EXPECT_NE(inference_error(op, {f32({3, 5})}), "");
  }
}

}  // namespace
}  // namespace linnet::testing
