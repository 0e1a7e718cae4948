// SPDX-License-Identifier: Apache-2.0
#include "ops/binary_cross_entropy/binary_cross_entropy.h"

#include <gtest/gtest.h>

#include "graph/differentiate.h"
#include "op_harness.h"

namespace linnet::testing {
namespace {

TEST(BinaryCrossEntropy, AgreesWithTheReference) {
  const OpPtr op = make_op(BceWithLogitsOp());
  const std::vector<bool> logits{true, false};
  const std::vector<Fill> fills{{-4, 4}, {0, 1}};
  check({"bce", op, {f32({3, 5}), f32({3, 5})}, fills, true, logits});
  check({"bce one", op, {f32({1}), f32({1})}, fills, true, logits});
  check({"bce no sample", op, {f32({0, 4}), f32({0, 4})}, {}, false});
  check({"bce many tasks", op, {f32({100, 333}), f32({100, 333})}, fills, false});
  check({"bce certain", op, {f32({40}), f32({40})}, {{-1e4, 1e4}, {0, 1}}, false});
  check({"bce_grad many tasks",
         make_op(BceWithLogitsGradOp()),
         {f32({100, 333}), f32({100, 333}), f32({})},
         {{-200, 200}, {0, 1}, {-1, 1}},
         false});
}

TEST(BinaryCrossEntropy, IsNotDifferentiableByItsTargets) {
  Graph graph;
  const Value z = graph.add_value("z", f32({2}), Storage::external, 0);
  const Value t = graph.add_value("t", f32({2}), Storage::external, 1);
  const Value loss = graph.emit(BceWithLogitsOp(), {z, t}, "loss");
  try {
    differentiate(graph, loss, std::span(&t, 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[bce_with_logits 'loss'] is not differentiable by its targets");
  }
}

TEST(BinaryCrossEntropy, NamesTheLayerAndTheShapes) {
  EXPECT_EQ(inference_error(make_op(BceWithLogitsOp()), {f32({8, 5}), f32({8})}, "loss"),
            "[bce_with_logits 'loss'] expected logits and targets of one shape; got logits=(8, 5), "
            "target=(8)");
}

}  // namespace
}  // namespace linnet::testing
