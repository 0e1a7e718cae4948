// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fake_op.h"
#include "plan/passes/passes.h"

namespace linnet {
namespace {

using testing::add_fake_one;
using testing::FakeAttrs;
using testing::FakeOp;

// Operators of these tests that take no bf16, said by their workspace.
const FakeAttrs kF32{.workspace = 2};

bool takes(const Op& op, std::span<const ValueType> inputs,
           std::span<const ValueType> /*outputs*/) {
  const auto* fake = dynamic_cast<const FakeOp*>(&op);
  return fake == nullptr || fake->attrs() != kF32 || inputs.back().dtype == DType::f32;
}

class CopyWeights : public ::testing::Test {
 protected:
  Value add(const FakeAttrs& attrs, Value weight) {
    return add_fake_one(graph_, attrs, {x_, weight}, "node");
  }
  Value weight(const Shape& shape) {
    return graph_.add_value("w", {DType::f32, shape}, Storage::parameter);
  }
  std::string dump_after() {
    copy_weights(graph_, takes);
    graph_.verify();
    return dump(graph_);
  }

  Graph graph_;
  Value x_ = graph_.add_value("x", {DType::f32, {8, 4}}, Storage::external);
};

TEST_F(CopyWeights, OfSeveralReadersInOneNode) {
  const Value a = weight({4, 4});
  const Value b = weight({4, 5});
  for (const Value w : {a, b, b, a}) add({}, w);
  graph_.add_value("unread", {DType::f32, {3}}, Storage::gradient, 64);
  const std::string text = dump_after();
  const Node& first = graph_.nodes().front();
  EXPECT_EQ(first.op->name(), "copy_all") << text;
  EXPECT_EQ(first.outputs.size(), 2U) << text;
  EXPECT_EQ(graph_.nodes().size(), 5U) << text;
  for (std::size_t n = 1; n < 5; ++n) {
    EXPECT_EQ(graph_.info(graph_.nodes()[n].inputs.back()).producer, 0) << text;
  }
  bool kept = false;
  for (std::size_t v = 0; v < graph_.value_count(); ++v) {
    kept = kept || graph_.info(Value{static_cast<int>(v)}).name == "unread";
  }
  EXPECT_TRUE(kept);
}

TEST_F(CopyWeights, OneReaderCopiesThemItself) {
  add({}, weight({4, 4}));
  add({}, weight({4, 4}));
  EXPECT_EQ(dump_after().find("copy_all"), std::string::npos);
}

TEST_F(CopyWeights, WhoTakesNoneIsNoReader) {
  const Value w = weight({4, 4});
  add({}, w);
  add(kF32, w);
  const Value vector = weight({4});  // a bias
  add({}, vector);
  add({}, vector);
  EXPECT_EQ(dump_after().find("copy_all"), std::string::npos);
}

}  // namespace
}  // namespace linnet
