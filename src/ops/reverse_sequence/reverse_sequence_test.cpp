// SPDX-License-Identifier: Apache-2.0
#include "ops/reverse_sequence/reverse_sequence.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

/// Lengths of 5 steps, some outside [0, 5], which are cut.
const std::vector<Fill> kFills{{-1, 1}, {-1, 8}};

TEST(ReverseSequence, AgreesWithTheReference) {
  const OpPtr op = make_op(ReverseSequenceOp());
  check({"reverse sequence steps", op, {f32({7, 5}), i32({7})}, kFills});
  check({"reverse sequence features", op, {f32({7, 5, 3}), i32({7})}, kFills});
  check({"reverse sequence images", op, {f32({4, 5, 2, 3}), i32({4})}, kFills});
  check({"reverse sequence no sample", op, {f32({0, 5, 3}), i32({0})}, kFills, false});
  check({"reverse sequence many tasks", op, {f32({90, 5, 67}), i32({90})}, kFills, false});
}

TEST(ReverseSequence, WantsALengthForEachSample) {
  EXPECT_EQ(inference_error(make_op(ReverseSequenceOp()), {f32({3, 4}), i32({4})}, "r"),
            "[reverse_sequence 'r'] expected f32 sequences (N, T, ...) and lengths i32 (N); got "
            "x=(3, 4), lengths=(4)");
}

}  // namespace
}  // namespace linnet::testing
