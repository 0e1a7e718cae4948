// SPDX-License-Identifier: Apache-2.0
#include "ops/share/share.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(Share, AgreesWithTheReference) {
  for (std::int64_t index : {0, 3, 7}) {
    for (const Shape& x : {Shape{}, Shape{3, 7}, Shape{0, 4}}) {
      OpCase op_case{"share " + to_string(x), make_op(ShareOp({.index = index})), {f32(x)}};
      op_case.step.shares = {0.5F, 1, 1, 0.3F, 1, 1, 1, 0.125F};
      check(op_case);
    }
  }
}

TEST(Share, NamesTheIndex) {
  EXPECT_EQ(inference_error(make_op(ShareOp({.index = 8})), {f32({4})}),
            "[share 'layer'] expected an index below 8; got 8");
}

}  // namespace
}  // namespace linnet::testing
