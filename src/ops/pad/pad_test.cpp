// SPDX-License-Identifier: Apache-2.0
#include "ops/pad/pad.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(Pad, AgreesWithTheReference) {
  const auto op = [](int axis, std::int64_t before, std::int64_t after, double value) {
    return make_op(PadOp({.axis = axis, .before = before, .after = after, .value = value}));
  };
  check({"pad last axis", op(1, 2, 1, 0), {f32({3, 4})}});
  check({"pad rows", op(1, 1, 2, -3), {f32({2, 3, 4, 2})}});
  check({"pad columns", op(2, 1, 2, 0.5), {f32({2, 3, 4, 2})}});
  check({"pad before alone", op(1, 3, 0, 1), {f32({2, 2})}});
  check({"pad nothing", op(1, 0, 0, 1), {f32({2, 2})}});
  check({"pad no sample", op(1, 1, 1, 1), {f32({0, 2})}, {}, false});
  check({"pad many tasks", op(1, 5, 7, 1), {f32({64, 50, 67})}, {}, false});
}

TEST(Pad, NamesTheLayerAndWhatIsWrong) {
  const auto error = [](PadAttrs attrs) {
    return inference_error(make_op(PadOp(attrs)), {f32({3, 4})}, "frame");
  };
  EXPECT_EQ(error({.axis = 1, .before = -1}),
            "[pad 'frame'] expected one f32 operand to pad by -1 and 0 along an axis 1 after the "
            "batch; got x=(3, 4)");
  EXPECT_NE(error({.axis = 2}), "");
  EXPECT_NE(error({.axis = 1, .after = std::int64_t{1} << 62}), "");
}

}  // namespace
}  // namespace linnet::testing
