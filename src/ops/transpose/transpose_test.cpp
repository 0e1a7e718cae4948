// SPDX-License-Identifier: Apache-2.0
#include "ops/transpose/transpose.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "op_harness.h"
#include "ops/arithmetic/unaligned_cuda_test.h"

namespace linnet::testing {
namespace {

OpPtr transpose(std::vector<std::int64_t> permutation) {
  return make_op(TransposeOp({.permutation = std::move(permutation)}));
}

TEST(Transpose, AgreesWithTheReference) {
  check({"transpose one axis", transpose({0}), {f32({7})}});
  check({"transpose nothing", transpose({0, 1, 2}), {f32({3, 4, 5})}});
  check({"transpose planes", transpose({0, 2, 1}), {f32({3, 5, 7})}});
  check({"transpose whole blocks", transpose({0, 2, 1}), {f32({2, 8, 12})}});
  check({"transpose one sample", transpose({0, 2, 1}), {f32({1, 33, 34})}});
  check({"transpose one column", transpose({0, 2, 1}), {f32({4, 9, 1})}});
  check({"transpose ones", transpose({0, 3, 1, 2}), {f32({1, 1, 1, 1})}});
  check({"transpose heads", transpose({0, 2, 1, 3}), {f32({2, 5, 3, 4})}});
  check({"transpose no sample", transpose({0, 2, 1}), {f32({0, 5, 7})}, {}, false});
  check({"transpose no element", transpose({0, 2, 1}), {f32({5, 0, 7})}, {}, false});
  check({"transpose extreme", transpose({0, 2, 1}), {f32({2, 5, 7})}, {{-3e38, 3e38}}, false});
}

TEST(Transpose, EveryPermutationOfFourAxesAgreesWithTheReference) {
  std::vector<std::int64_t> axes = {1, 2, 3, 4};
  do {
    std::vector<std::int64_t> permutation = {0};
    permutation.insert(permutation.end(), axes.begin(), axes.end());
    check({"transpose four", transpose(permutation), {f32({2, 3, 5, 4, 6})}});
    check({"transpose with ones", transpose(permutation), {f32({1, 5, 1, 4, 6})}});
  } while (std::next_permutation(axes.begin(), axes.end()));
}

TEST(Transpose, WholePacksAgreeWithTheReference) {
  check({"transpose heads of packs", transpose({0, 2, 1, 3}), {f32({2, 5, 3, 8})}});
  check({"transpose in planes", transpose({0, 4, 2, 1, 3}), {f32({2, 3, 2, 17, 20})}, {}, false});
}

TEST(Transpose, MayLieAnywhere) {
  check_unaligned(transpose({0, 2, 1, 3}), {f32({2, 5, 3, 8})});
  check_unaligned(transpose({0, 2, 1}), {f32({2, 36, 40})});
}

TEST(Transpose, ManyTasksAndTilesAgreeWithTheReference) {
  check({"transpose tiles", transpose({0, 2, 1}), {f32({2, 131, 257})}, {}, false});
  check({"transpose images", transpose({0, 3, 1, 2}), {f32({30, 28, 27, 5})}, {}, false});
  check({"transpose to images", transpose({0, 2, 3, 1}), {f32({30, 5, 28, 27})}, {}, false});
  check({"transpose one large plane", transpose({0, 2, 1}), {f32({1, 700, 433})}, {}, false});
  check({"transpose many heads", transpose({0, 2, 1, 3}), {f32({30, 41, 8, 33})}, {}, false});
  check({"transpose short rows", transpose({0, 2, 1, 3}), {f32({300, 40, 8, 2})}, {}, false});
  check({"transpose a long copy", transpose({0, 1}), {f32({1, 500003})}, {}, false});
}

TEST(Transpose, NamesThePermutationAndTheShape) {
  EXPECT_EQ(inference_error(transpose({1, 0}), {f32({2, 3})}, "turn"),
            "[transpose 'turn'] expected one f32 operand and a permutation of its axes, the batch "
            "first; got (1, 0) and x=(2, 3)");
  EXPECT_NE(inference_error(transpose({0, 1}), {f32({2, 3, 4})}), "");
  EXPECT_NE(inference_error(transpose({0, 1, 1}), {f32({2, 3, 4})}), "");
  EXPECT_NE(inference_error(transpose({0, 1, 3}), {f32({2, 3, 4})}), "");
  EXPECT_NE(inference_error(transpose({0, -1, 1}), {f32({2, 3, 4})}), "");
  EXPECT_NE(inference_error(transpose({}), {f32({})}), "");
  EXPECT_NE(inference_error(transpose({0, 1}), {i32({2, 3})}), "");
}

}  // namespace
}  // namespace linnet::testing
