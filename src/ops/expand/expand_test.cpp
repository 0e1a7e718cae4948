// SPDX-License-Identifier: Apache-2.0
#include "ops/expand/expand.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

OpPtr expand(std::vector<std::int64_t> shape) { return make_op(ExpandOp({std::move(shape)})); }

TEST(Expand, AgreesWithTheReference) {
  check({"expand last", expand({4, 3}), {f32({2, 4, 1})}});
  check({"expand first", expand({4, 3}), {f32({2, 1, 3})}});
  check({"expand middle", expand({2, 5, 3}), {f32({3, 2, 1, 3})}});
  check({"expand all", expand({4, 3}), {f32({2, 1, 1})}});
  check({"expand nothing", expand({4, 3}), {f32({2, 4, 3})}});
  check({"expand one sample", expand({3}), {f32({1, 1})}});
  check({"expand no sample", expand({3}), {f32({0, 1})}, {}, false});
  check({"expand many tasks", expand({50, 67}), {f32({64, 1, 67})}, {}, false});
  check({"expand long runs", expand({40001}), {f32({3, 1})}, {}, false});
}

TEST(Expand, RepeatsWeightsForEachSample) {
  const std::vector<bool> x_alone{true, false};
  check({"expand weights", expand({4, 3}), {f32({4, 3}), f32({2, 5})}, {}, true, x_alone});
  check({"expand a row", expand({4, 3}), {f32({3}), f32({2})}, {}, true, x_alone});
  check({"expand a number", expand({4}), {f32({}), i32({2})}, {}, true, {true, false}});
  check({"expand a column", expand({4, 3}), {f32({4, 1}), f32({2})}, {}, true, x_alone});
}

TEST(Expand, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(expand({4, 3}), {f32({2, 2, 3})}, "wide"),
            "[expand 'wide'] expected f32 x that repeats to (N, ...) with samples (4, 3); got "
            "x=(2, 2, 3)");
  EXPECT_NE(inference_error(expand({3}), {f32({3})}), "");
  EXPECT_NE(inference_error(expand({0}), {f32({2, 1})}), "");
  EXPECT_NE(inference_error(expand({2, 3, 4}), {f32({5, 1, 3, 1})}), "");
  EXPECT_NE(inference_error(expand({3}), {f32({2, 3}), f32({2})}), "");
}

}  // namespace
}  // namespace linnet::testing
