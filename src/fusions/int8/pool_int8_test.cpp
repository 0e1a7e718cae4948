// SPDX-License-Identifier: Apache-2.0
#include "fusions/int8/pool_int8.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

OpCase on_cpu(std::string name, OpPtr op, const Shape& shape) {
  return {.name = std::move(name),
          .op = std::move(op),
          .inputs = {u8(shape)},
          .fills = {{0, 256}},
          .gradient = false,
          .devices = {"CPU"}};
}

TEST(PoolInt8, AgreesWithTheReference) {
  check(on_cpu("max pool of levels", make_op(MaxPoolInt8Op(Pool2dAttrs())), {3, 8, 6, 5}));
  check(on_cpu("max pool of levels 3x3/2",
               make_op(MaxPoolInt8Op({.size_h = 3, .size_w = 3, .pad_top = 1, .pad_left = 1})),
               {2, 13, 11, 70}));
  check(on_cpu("max pool of no sample", make_op(MaxPoolInt8Op(Pool2dAttrs())), {0, 4, 4, 3}));
  const LevelsAttrs levels{.scale = 0.03, .zero = 17};
  check(on_cpu("mean of levels", make_op(GlobalAvgPoolInt8Op(levels)), {3, 7, 5, 300}));
  check(on_cpu("mean of one level", make_op(GlobalAvgPoolInt8Op(levels)), {2, 1, 1, 3}));
}

TEST(PoolInt8, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(GlobalAvgPoolInt8Op()), {f32({2, 3, 3, 1})}, "pool"),
            "[global_avg_pool_int8 'pool'] expected levels (N, H, W, C) of u8; got x=(2, 3, 3, 1)");
}

}  // namespace
}  // namespace linnet::testing
