// SPDX-License-Identifier: Apache-2.0
#include "ops/copy_all/copy_all.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

void check_copies(const std::string& name, const std::vector<ValueType>& inputs) {
  OpCase copies{name, make_op(CopyAllOp()), inputs};
  copies.gradient = false;
  check(copies);
}

TEST(CopyAll, AgreesWithTheReference) {
  check_copies("one", {f32({3, 5})});
  check_copies("ends within four", {f32({64, 7, 7, 3}), f32({0, 4}), f32({9, 1}), f32({33, 130})});
  check_copies("more than a launch has", std::vector<ValueType>(70, f32({5, 3})));
}

TEST(CopyAll, NamesWhatIsMissing) {
  EXPECT_EQ(inference_error(make_op(CopyAllOp()), {}),
            "[copy_all 'layer'] expected at least 1 operand; got none");
}

}  // namespace
}  // namespace linnet::testing
