// SPDX-License-Identifier: Apache-2.0
#include "ops/to_ids/to_ids.h"

#include <gtest/gtest.h>

#include <limits>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(ToIds, AgreesWithTheReference) {
  const OpPtr op = make_op(ToIdsOp());
  check({"to ids", op, {f32({5, 3})}, {{-7, 7}}, false});
  check({"to ids of one", op, {f32({1})}, {{0, 9}}, false});
  check({"to ids beyond i32", op, {f32({40})}, {{-1e11, 1e11}}, false});
  check({"to ids no sample", op, {f32({0, 4})}, {}, false});
  check({"to ids many tasks", op, {f32({64, 33, 67})}, {{-100, 100}}, false});
}

TEST(ToIds, RoundsTowardsZeroAndMarksWhatIsNone) {
  EXPECT_EQ(id_of(2.9F), 2);
  EXPECT_EQ(id_of(-2.9F), -2);
  EXPECT_EQ(id_of(-0.5F), 0);
  EXPECT_EQ(id_of(2147483520.0F), 2147483520);
  EXPECT_EQ(id_of(2147483648.0F), -1);
  EXPECT_EQ(id_of(-2147483648.0F), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(id_of(std::numeric_limits<float>::quiet_NaN()), -1);
  EXPECT_EQ(id_of(-std::numeric_limits<float>::infinity()), -1);
}

TEST(ToIds, NamesTheLayerAndWhatIsWrong) {
  EXPECT_EQ(inference_error(make_op(ToIdsOp()), {i32({5})}, "ids"),
            "[to_ids 'ids'] expected one f32 operand; got x=(5)");
}

}  // namespace
}  // namespace linnet::testing
