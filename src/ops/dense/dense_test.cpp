// SPDX-License-Identifier: Apache-2.0
#include "ops/dense/dense.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(Dense, AgreesWithTheReference) {
  const auto dense = [](DenseAttrs attrs = {}) { return make_op(DenseOp(attrs)); };
  check({"dense", dense(), {f32({5, 7}), f32({3, 7})}});
  check({"dense batch 1", dense(), {f32({1, 33}), f32({17, 33})}});
  check({"dense one unit", dense(), {f32({9, 4}), f32({1, 4})}});
  check({"dense no sample", dense(), {f32({0, 4}), f32({2, 4})}, {}, false});
  check({"dense many tasks", dense(), {f32({257, 96}), f32({130, 96})}, {}, false});
  check({"dense bias", dense({.bias = true}), {f32({4, 6}), f32({5, 6}), f32({5})}});
  for (Activation a : {Activation::relu, Activation::tanh, Activation::sigmoid}) {
    check({"dense bias activation", dense({.bias = true, .activation = a}),
           {f32({6, 5}), f32({4, 5}), f32({4})}});
  }
  check({"dense large values", dense(), {f32({3, 8}), f32({2, 8})}, {{-1e15, 1e15}}, false});
}

TEST(Dense, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(DenseOp()), {f32({8, 5}), f32({3, 4})}, "head"),
            "[dense 'head'] expected 4 input features; got x=(8, 5), w=(3, 4)");
}

}  // namespace
}  // namespace linnet::testing
