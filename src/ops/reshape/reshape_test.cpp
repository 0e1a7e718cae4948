// SPDX-License-Identifier: Apache-2.0
#include "ops/reshape/reshape.h"

#include <gtest/gtest.h>

#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"

namespace linnet::testing {
namespace {

TEST(Reshape, AgreesWithTheReference) {
  check({"reshape", make_op(ReshapeOp({{-1, 12}})), {f32({5, 3, 4})}});
  check({"reshape to images", make_op(ReshapeOp({{-1, 3, 4, 1}})), {f32({5, 12})}});
  check({"reshape fixed", make_op(ReshapeOp({{6, 10}})), {f32({5, 12})}, {}, false});
  check({"reshape no sample", make_op(ReshapeOp({{-1, 12}})), {f32({0, 3, 4})}, {}, false});
  check({"reshape bytes", make_op(ReshapeOp({{-1, 4}})), {u8({3, 2, 2})}, {{0, 255}}, false});
}

TEST(Reshape, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(ReshapeOp({{-1, 7}})), {f32({5, 12})}, "r"),
            "[reshape 'r'] 60 elements do not fit into the shape (-1, 7); got x=(5, 12)");
  EXPECT_EQ(inference_error(make_op(ReshapeOp({{-1, -1}})), {f32({5, 12})}, "r"),
            "[reshape 'r'] expected at most one dimension of -1; got (-1, -1)");
  EXPECT_EQ(inference_error(make_op(ReshapeOp({{1LL << 62, 4}})), {f32({5, 12})}, "r"),
            "[reshape 'r'] expected dimensions of at least 0, one of them -1; got "
            "(4611686018427387904, 4)");
}

TEST(Flatten, KeepsTheBatch) {
  Graph graph;
  const Value x = graph.add_value("x", f32({5, 3, 4}), Storage::external, 0);
  EXPECT_EQ(graph.shape(flatten(graph, x, "flat")), (Shape{5, 12}));
}

TEST(Reshape, AProductThatOverflowsIsAnError) {
  const std::int64_t large = std::int64_t{1} << 32;
  EXPECT_EQ(inference_error(make_op(ReshapeOp({{large, large}})), {f32({0, 12})}, "r"),
            "[reshape 'r'] expected dimensions of at least 0, one of them -1; got (4294967296, "
            "4294967296)");
}

TEST(Copy, AgreesWithTheReference) {
  check({"copy", make_op(CopyOp()), {f32({3, 5})}});
  check({"copy labels", make_op(CopyOp()), {i32({7})}, {{-9, 9}}, false});
  check({"copy empty", make_op(CopyOp()), {f32({0, 5})}, {}, false});
  check({"copy many tasks", make_op(CopyOp()), {f32({300, 777})}, {}, false});
}

TEST(Copy, MayLieAnywhere) { check_unaligned(make_op(CopyOp()), {f32({3, 7})}); }

}  // namespace
}  // namespace linnet::testing
