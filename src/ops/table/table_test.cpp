// SPDX-License-Identifier: Apache-2.0
#include "ops/table/table.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(Table, AgreesWithTheReference) {
  check({"table", make_op(TableOp({{0.5, -2, 1e9}})), {}, {}, false});
  std::vector<double> many(1500);  // on CUDA: three launches
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>(i) / 7;
  check({"table of several parts", make_op(TableOp({many})), {}, {}, false});
}

TEST(Table, NamesTheLayerAndWhatIsWrong) {
  EXPECT_EQ(inference_error(make_op(TableOp(TableAttrs{{}})), {}, "loss"),
            "[table 'loss'] expected no operand and at least one value; got 0 operands, 0 values");
}

}  // namespace
}  // namespace linnet::testing
