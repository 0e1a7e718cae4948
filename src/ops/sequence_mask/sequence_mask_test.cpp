// SPDX-License-Identifier: Apache-2.0
#include "ops/sequence_mask/sequence_mask.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

/// Lengths of 5 steps, some outside [0, 5], which are cut.
const std::vector<Fill> kFills{{-1, 1}, {-1, 8}};

TEST(SequenceMask, AgreesWithTheReference) {
  const auto of = [](SequenceMaskAttrs attrs) { return make_op(SequenceMaskOp(attrs)); };
  check({"sequence mask steps", of({}), {f32({6, 5}), i32({6})}, kFills});
  check({"sequence mask features", of({.fill = -2}), {f32({6, 5, 3}), i32({6})}, kFills});
  check({"sequence mask keys", of({.axis = 3, .fill = -2}), {f32({7, 2, 3, 5}), i32({7})}, kFills});
  check({"sequence mask mean", of({.mean = true}), {f32({7, 5, 3}), i32({7})}, kFills});
  check({"sequence mask inner",
         of({.axis = 2, .mean = true}),
         {f32({7, 2, 5, 3}), i32({7})},
         kFills});
  check({"sequence mask no sample", of({}), {f32({0, 5}), i32({0})}, kFills, false});
  check(
      {"sequence mask many tasks", of({.axis = 3}), {f32({9, 4, 67, 5}), i32({9})}, kFills, false});
}

TEST(SequenceMask, TakesLabels) {
  const std::vector<Fill> fills{{-3, 9}, {-1, 8}};
  const OpPtr op = make_op(SequenceMaskOp());
  check({"sequence mask labels", op, {i32({6, 5}), i32({6})}, fills, false});
  check({"sequence mask labels of rows", op, {i32({60, 5, 7}), i32({60})}, fills, false});
  const OpPtr filled = make_op(SequenceMaskOp({.fill = 1}));
  EXPECT_NE(inference_error(filled, {i32({6, 5}), i32({6})}), "");
}

TEST(SequenceMask, WantsALengthForEachSample) {
  EXPECT_EQ(inference_error(make_op(SequenceMaskOp()), {f32({3, 4}), i32({4})}, "mask"),
            "[sequence_mask 'mask'] expected f32 sequences (N, ...) with steps along axis 1 and "
            "lengths i32 (N); got x=(3, 4), lengths=(4)");
  EXPECT_EQ(inference_error(make_op(SequenceMaskOp({.axis = 2})), {f32({3, 4}), i32({3})}, "mask"),
            "[sequence_mask 'mask'] expected f32 sequences (N, ...) with steps along axis 2 and "
            "lengths i32 (N); got x=(3, 4), lengths=(3)");
}

}  // namespace
}  // namespace linnet::testing
