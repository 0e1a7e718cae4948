// SPDX-License-Identifier: Apache-2.0
#include "ops/cumsum/cumsum.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(Cumsum, AgreesWithTheReference) {
  for (const bool reverse : {false, true}) {
    const auto op = [&](int axis) { return make_op(CumsumOp({.axis = axis, .reverse = reverse})); };
    check({"cumsum last axis", op(2), {f32({3, 2, 5})}});
    check({"cumsum first axis", op(1), {f32({3, 5, 2})}});
    check({"cumsum one", op(1), {f32({1, 1})}});
    check({"cumsum no sample", op(1), {f32({0, 4})}, {}, false});
    check({"cumsum many tasks", op(1), {f32({64, 50, 33})}, {}, false});
  }
}

TEST(Cumsum, NamesTheLayerAndTheShape) {
  EXPECT_EQ(inference_error(make_op(CumsumOp({.axis = 2})), {f32({3, 4})}, "sums"),
            "[cumsum 'sums'] expected one f32 operand with an axis 2 after the batch; got "
            "x=(3, 4)");
}

}  // namespace
}  // namespace linnet::testing
