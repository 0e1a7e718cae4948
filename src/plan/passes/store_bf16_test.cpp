// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "fake_op.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

using testing::add_fake_one;
using testing::FakeAttrs;
using testing::FakeOp;

// What an operator of these tests takes, said by its workspace.
const FakeAttrs kAny{.workspace = 0};
const FakeAttrs kOneType{.workspace = 1};
const FakeAttrs kF32{.workspace = 2};

bool takes(const Op& op, std::span<const ValueType> inputs, std::span<const ValueType> outputs) {
  std::vector<DType> types;
  for (const ValueType& type : inputs) types.push_back(type.dtype);
  for (const ValueType& type : outputs) types.push_back(type.dtype);
  const std::int64_t what = static_cast<const FakeOp&>(op).attrs().workspace;
  if (what == kAny.workspace) return true;
  const DType wanted = what == kF32.workspace ? DType::f32 : types.front();
  return std::ranges::all_of(types, [&](DType type) { return type == wanted; });
}

class StoreBf16 : public ::testing::Test {
 protected:
  Value add(const FakeAttrs& attrs, std::vector<Value> inputs) {
    return add_fake_one(graph_, attrs, std::move(inputs), "node");
  }
  void run() {
    store_bf16(graph_, takes);
    graph_.verify();
  }
  bool stored(Value value) const { return graph_.type(value).dtype == DType::bf16; }

  Graph graph_;
  Value x_ = graph_.add_value("x", {DType::f32, {8, 4}}, Storage::external);
};

TEST_F(StoreBf16, ValuesBetweenOperatorsThatTakeIt) {
  const Value a = add(kAny, {x_});
  const Value b = add(kAny, {a});
  const Value y = add(kAny, {b});
  graph_.info(y).storage = Storage::external;
  run();
  EXPECT_TRUE(stored(a) && stored(b));
  EXPECT_FALSE(stored(x_) || stored(y)) << "the caller's memory";
}

TEST_F(StoreBf16, OneReaderThatRefusesKeepsItF32) {
  const Value a = add(kAny, {x_});
  const Value b = add(kAny, {a});
  add(kF32, {a});
  run();
  EXPECT_FALSE(stored(a));
  EXPECT_TRUE(stored(b));
}

TEST_F(StoreBf16, AViewIsStoredAsItsOperand) {
  const Value a = add(kAny, {x_});
  const Value seen = add({.view = true}, {a});
  add(kF32, {add({.view = true}, {seen})});
  const Value b = add(kAny, {x_});
  const Value other = add({.view = true}, {b});
  run();
  EXPECT_FALSE(stored(a) || stored(seen));
  EXPECT_TRUE(stored(b) && stored(other));
}

/// What one operator refuses another may refuse for it, back to the first.
TEST_F(StoreBf16, OperatorsOfOneTypeFollow) {
  const Value a = add(kAny, {x_});
  const Value b = add(kOneType, {a});
  const Value c = add(kOneType, {b});
  add(kF32, {c});
  run();
  EXPECT_FALSE(stored(a) || stored(b) || stored(c));
}

TEST_F(StoreBf16, WhatHasNoRowForEachSampleStaysF32) {
  const Value sums = add({.elements = 4}, {x_});
  run();
  EXPECT_FALSE(stored(sums));
}

}  // namespace
}  // namespace linnet
