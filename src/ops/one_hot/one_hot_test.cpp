// SPDX-License-Identifier: Apache-2.0
#include "ops/one_hot/one_hot.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(OneHot, AgreesWithTheReference) {
  const auto op = [](std::int64_t classes) { return make_op(OneHotOp({classes})); };
  check({"one hot", op(4), {i32({5})}, {{0, 3}}, false});
  check({"one hot with ids outside", op(4), {i32({5, 3})}, {{-2, 6}}, false});
  check({"one hot of one class", op(1), {i32({5})}, {{0, 1}}, false});
  check({"one hot no sample", op(4), {i32({0, 2})}, {}, false});
  check({"one hot many tasks", op(101), {i32({70, 90})}, {{0, 100}}, false});
}

TEST(OneHot, NamesTheLayerAndWhatIsWrong) {
  EXPECT_EQ(inference_error(make_op(OneHotOp({3})), {f32({5})}, "hot"),
            "[one_hot 'hot'] expected i32 ids (N, ...); got ids=(5)");
  EXPECT_EQ(inference_error(make_op(OneHotOp({0})), {i32({5})}, "hot"),
            "[one_hot 'hot'] expected at least one class; got 0");
}

}  // namespace
}  // namespace linnet::testing
