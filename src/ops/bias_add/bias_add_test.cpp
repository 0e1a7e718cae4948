// SPDX-License-Identifier: Apache-2.0
#include "ops/bias_add/bias_add.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(BiasAdd, AgreesWithTheReference) {
  const OpPtr op = make_op(BiasAddOp());
  check({"bias matrix", op, {f32({4, 3}), f32({3})}});
  check({"bias images", op, {f32({2, 5, 3, 7}), f32({7})}});
  check({"bias one channel", op, {f32({6, 1}), f32({1})}});
  check({"bias no sample", op, {f32({0, 3}), f32({3})}, {}, false});
  check({"bias no channel", op, {f32({3, 0}), f32({0})}, {}, false});
  check({"bias many tasks", op, {f32({3000, 50}), f32({50})}, {}, false});
  check({"bias gradient of no channel", make_op(BiasGradOp()), {f32({3, 0})}, {}, false});
  check({"bias gradient in parts", make_op(BiasGradOp()), {f32({3000, 50})}, {}, false});
}

TEST(BiasAdd, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(BiasAddOp()), {f32({8, 5}), f32({4})}, "head"),
            "[bias_add 'head'] expected a bias as long as the last axis; got x=(8, 5), b=(4)");
}

}  // namespace
}  // namespace linnet::testing
