// SPDX-License-Identifier: Apache-2.0
#include "ops/causal_mask/causal_mask.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(CausalMask, AgreesWithTheReference) {
  const OpPtr op = make_op(CausalMaskOp({.fill = -2}));
  check({"causal mask heads", op, {f32({2, 3, 5, 5})}});
  check({"causal mask more keys", op, {f32({2, 3, 7})}});
  check({"causal mask more queries", op, {f32({2, 7, 3})}});
  check({"causal mask one", op, {f32({2, 1, 1})}});
  check({"causal mask no sample", op, {f32({0, 4, 4})}, {}, false});
  check({"causal mask many tasks", op, {f32({8, 4, 67, 67})}, {}, false});
  check({"causal mask large", make_op(CausalMaskOp()), {f32({3, 4, 4})}, {}, false});
}

TEST(CausalMask, WantsMatrices) {
  EXPECT_EQ(inference_error(make_op(CausalMaskOp()), {f32({3, 4})}, "scores"),
            "[causal_mask 'scores'] expected f32 scores (N, ..., queries, keys); got x=(3, 4)");
}

}  // namespace
}  // namespace linnet::testing
