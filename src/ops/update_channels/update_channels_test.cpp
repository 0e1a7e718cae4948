// SPDX-License-Identifier: Apache-2.0
#include "ops/update_channels/update_channels.h"

#include <gtest/gtest.h>

#include "op_harness.h"

namespace linnet::testing {
namespace {

OpCase forward(const std::string& name, OpPtr op, const std::vector<ValueType>& inputs) {
  OpCase op_case{name, std::move(op), inputs};
  op_case.gradient = false;
  return op_case;
}

TEST(UpdateChannels, AgreesWithTheReference) {
  for (bool add : {false, true}) {
    for (std::int64_t begin : {0, 3, 4}) {
      const OpPtr op = make_op(UpdateChannelsOp({.begin = begin, .add = add}));
      const std::string name = "update_channels " + std::to_string(begin) + (add ? " add" : "");
      check(forward(name, op, {f32({2, 3, 5, 10}), f32({2, 3, 5, 6})}));
      check(forward(name + " fours", op, {f32({5, 7, 16}), f32({5, 7, 8})}));
      check(forward(name + " many tasks", op, {f32({70, 31, 17, 40}), f32({70, 31, 17, 33})}));
      check(forward(name + " no sample", op, {f32({0, 9}), f32({0, 4})}));
      check(forward(name + " no channel", op, {f32({4, 9}), f32({4, 0})}));
    }
  }
}

TEST(UpdateChannels, NamesThePart) {
  EXPECT_EQ(
      inference_error(make_op(UpdateChannelsOp({.begin = 4})), {f32({2, 9}), f32({2, 6})}),
      "[update_channels 'layer'] expected a part of the channels from 4 on; got whole=(2, 9), "
      "part=(2, 6)");
}

}  // namespace
}  // namespace linnet::testing
