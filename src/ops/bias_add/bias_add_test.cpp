// SPDX-License-Identifier: Apache-2.0
#include "ops/bias_add/bias_add.h"

#include <gtest/gtest.h>

#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"

namespace linnet::testing {
namespace {

TEST(BiasAdd, AgreesWithTheReference) {
  const OpPtr op = make_op(BiasAddOp());
  check({"bias matrix", op, {f32({4, 3}), f32({3})}});
  check({"bias images", op, {f32({2, 5, 3, 7}), f32({7})}});
  check({"bias one channel", op, {f32({6, 1}), f32({1})}});
  check({"bias no sample", op, {f32({0, 3}), f32({3})}, {}, false});
  check({"bias no channel", op, {f32({3, 0}), f32({0})}, {}, false});
  for (const std::int64_t channels : {1, 3, 6, 12, 20}) {  // joined rows, and a rest
    check({"bias of few channels", op, {f32({101, channels}), f32({channels})}, {}, false});
  }
  check({"bias many tasks", op, {f32({3000, 50}), f32({50})}, {}, false});
  check({"bias gradient of no channel", make_op(BiasGradOp()), {f32({3, 0})}, {}, false});
  check({"bias gradient in parts", make_op(BiasGradOp()), {f32({3000, 50})}, {}, false});
  check({"bias of four", op, {f32({5, 8}), f32({8})}});
  // More elements than CUDA's largest grid has threads.
  check({"bias of many strides", op, {f32({31800, 33}), f32({33})}, {}, false});
  for (const Shape& shape :
       {Shape{5000, 8}, Shape{9000, 1}, Shape{301, 260}, Shape{290, 67}, Shape{8000, 50},
        Shape{7000, 25}, Shape{7002, 25}, Shape{130, 126}, Shape{5000, 140}, Shape{2, 4000},
        Shape{100000, 2}, Shape{5001, 6}, Shape{4097, 3}}) {
    check({"bias gradient " + to_string(shape), make_op(BiasGradOp()), {f32(shape)}, {}, false});
  }
}

TEST(BiasAdd, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(BiasAddOp()), {f32({8, 5}), f32({4})}, "head"),
            "[bias_add 'head'] expected a bias as long as the last axis; got x=(8, 5), b=(4)");
}

TEST(BiasAdd, MayLieAnywhere) {
  check_unaligned(make_op(BiasAddOp()), {f32({5, 8}), f32({8})});
  check_unaligned(make_op(BiasGradOp()), {f32({5000, 8})});
}

}  // namespace
}  // namespace linnet::testing
